import words from '../i18n/ru.json';

export default words;
