export { english } from './english.js'
export { german } from './german.js'
export type { MailFrame } from './html-mail.js'
export type {
  LinkMailWords,
  MailContext,
  MailFact,
  MailLanguage,
  MailOverrides,
  MailTemplate,
  MailWords,
  MailWordsOf,
} from './mail-language.js'
export {
  type MailReader,
  type MailWriter,
  type MailWriterOptions,
  mailWriter,
  type WrittenMail,
} from './mail-writer.js'
