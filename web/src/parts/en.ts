import words from '../i18n/en.json';

export default words;
