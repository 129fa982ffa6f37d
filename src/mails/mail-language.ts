import type { Mail } from '../ports/host.js'

/** The name of a mail. */
export type MailTemplate = Mail['template']

/** The data of each mail. */
export type MailData = { readonly [M in Mail as M['template']]: M['data'] }

/**
 * What the words of a mail may speak of. Every text is a single line without control characters; it is not escaped,
 * because the writer does so where it writes HTML.
 */
export interface MailContext<T extends MailTemplate> {
  readonly product: string
  /** As in the mail, but `userAgent` has only the names of browser and system, such as `Firefox, Windows`. */
  readonly data: MailData[T]
  /** A moment (epoch milliseconds) in this language, in the writer's time zone, which it names. */
  time(at: number): string
  /** How long it is from now until then, such as `24 hours` or `45 minutes`; a minute at least. */
  timeUntil(at: number): string
}

/** The words of a mail. Each entry is one paragraph of plain text; HTML in it is shown as it is typed. */
export interface MailWords {
  /** Also the heading of the HTML. */
  readonly subject: string
  /** Before the facts and the button. */
  readonly before: readonly string[]
  /** After them. */
  readonly after: readonly string[]
}

/** The words of a mail with a link. */
export interface LinkMailWords extends MailWords {
  /** What the button says. It leads to the `url` of the mail. */
  readonly button: string
}

/** The words that a mail needs: those with a link need a button too. */
export type MailWordsOf<T extends MailTemplate> =
  MailData[T] extends Readonly<Record<'url', string>> ? LinkMailWords : MailWords

/** Everything that mails say in one language. `english` and `german` are there; a host may add others. */
export interface MailLanguage {
  /** Which way it is written; `ltr` if left out. */
  readonly direction?: 'ltr' | 'rtl'
  /** `name` is empty where none is known, or where the name could be taken for a link. */
  greeting(name: string): string
  /** What stands before a value, such as `Time`. */
  readonly labels: Readonly<Record<MailFact | 'unknown', string>>
  /** Stands above the address of a link, for those who cannot use the button. */
  readonly linkHint: string
  /** The lines at the end. `supportAddress` is null where the host gave none. */
  foot(product: string, supportAddress: string | null): readonly string[]
  readonly mails: {
    readonly [T in MailTemplate]: (context: MailContext<T>) => MailWordsOf<T>
  }
}

/** The values that a mail lists. */
export type MailFact = 'newAddress' | 'time' | 'ipAddress' | 'device' | 'refusedUntil'

/** Other words for some mails of a language: each answers the parts that differ. */
export type MailOverrides = {
  readonly [T in MailTemplate]?: (context: MailContext<T>) => Partial<MailWordsOf<T>>
}
