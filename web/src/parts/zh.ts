import words from '../i18n/zh.json';

export default words;
