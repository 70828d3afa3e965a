// A text that was written in both languages.
export interface Text {
  zh: string;
  en: string;
}
