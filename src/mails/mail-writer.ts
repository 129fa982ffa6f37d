import { acceptedLanguages } from '../engine/text.js'
import type { Mail } from '../ports/host.js'
import { systemClock } from '../system/system-clock.js'
import { english } from './english.js'
import { german } from './german.js'
import { htmlMail, type MailFrame, pageLayout, textMail } from './html-mail.js'
import { htmlText } from './html-text.js'
import type { MailLanguage, MailOverrides } from './mail-language.js'
import { mailParts, type Wording } from './mail-parts.js'
import { singleLine } from './single-line.js'
import { writtenTimes } from './written-times.js'

/** How a writer writes. `L` are the tags of its languages. */
export interface MailWriterOptions<L extends string = 'en' | 'de'> {
  /** What users call your product. It stands in every mail. */
  readonly product: string
  /** The languages by their tags (BCP 47); `{ en: english, de: german }` if left out. */
  readonly languages?: Readonly<Record<L, MailLanguage>>
  /** The language where the reader's is unknown or not there; the first of `languages` if left out, so `en`. */
  readonly locale?: NoInfer<L>
  /** The time zone (IANA) that times are written in, which mails name; `UTC` if left out. */
  readonly timeZone?: string
  /** Where users get help: an e-mail address or a page, written as text. Mails name none if left out. */
  readonly supportAddress?: string
  /** Other words for single mails, by language. */
  readonly overrides?: { readonly [K in NoInfer<L>]?: MailOverrides }
  /** Puts a page of yours around the HTML of a mail, in place of the shipped one. */
  readonly layout?: (frame: MailFrame) => string
  /** Tells what the time is, in epoch milliseconds, for how long a link works; the machine’s clock if left out. */
  readonly now?: () => number
}

/** What is known of the language of the person who gets a mail. */
export interface MailReader {
  /** The tag that you keep for the address or the user, such as `de-AT`. It goes before all others. */
  readonly locale?: string | null | undefined
  /** The `Accept-Language` header of the request that caused the mail (RFC 9110 §12.5.4). */
  readonly acceptLanguage?: string | null | undefined
}

/** A mail to hand to a transport. */
export interface WrittenMail {
  /** The tag of the language that it is written in, for `Content-Language`. */
  readonly locale: string
  /** One line of plain text. */
  readonly subject: string
  readonly text: string
  /** A whole page, below 8 KB with the shipped layout and words, that loads nothing. */
  readonly html: string
}

/**
 * Writes a mail. Throws `TypeError` for a link that is not http or https. It keeps nothing from call to call.
 */
export type MailWriter = (mail: Mail, reader?: MailReader) => WrittenMail

/**
 * Gives a function that writes each mail of the library as a subject, text and HTML, in the language of its reader. It
 * sends nothing and loads nothing.
 *
 * The language is the first that is there of `reader.locale`, `reader.acceptLanguage` and the mail’s `languages`, by the
 * lookup of RFC 4647 §3.4, and else `options.locale`. Values of a mail are escaped in HTML, and in the text they begin no line. Throws `TypeError`
 * for an option that cannot work.
 *
 * @example
 * import type { Mailer } from 'postern'
 * import { mailWriter } from 'postern/mails'
 *
 * declare const transport: { sendMail(message: object): Promise<unknown> } // such as nodemailer's
 *
 * const write = mailWriter({ product: 'Acme', timeZone: 'Europe/Vienna' })
 *
 * export const mailer: Mailer = {
 *   async send(mail) {
 *     const { subject, text, html } = write(mail)
 *     await transport.sendMail({ from: 'Acme <no-reply@acme.example>', to: mail.to, subject, text, html })
 *   },
 * }
 */
export function mailWriter<L extends string = 'en' | 'de'>(
  options: MailWriterOptions<L>,
): MailWriter {
  const wordings = wordingsOf(options)
  const tags = [...wordings.keys()]
  const usual = options.locale ?? tags[0]
  const fallback = usual === undefined ? undefined : wordings.get(usual)
  if (usual === undefined || fallback === undefined) {
    throw new TypeError(`mailWriter: "locale" is "${usual}", which "languages" has no words for`)
  }
  const { layout = pageLayout } = options

  return (mail, { locale, acceptLanguage } = {}) => {
    const wanted = [
      ...(locale ? [locale] : []),
      ...acceptedLanguages(acceptLanguage ?? ''),
      ...(mail.languages ?? []),
    ]
    const chosen = languageOf(tags, wanted) ?? usual
    const wording = wordings.get(chosen) ?? fallback
    const parts = mailParts(mail, wording)
    const html = layout({
      locale: chosen,
      direction: wording.language.direction ?? 'ltr',
      title: htmlText(parts.subject),
      content: htmlMail(parts),
    })
    return { locale: chosen, subject: parts.subject, text: textMail(parts), html }
  }
}

function wordingsOf(options: MailWriterOptions<string>): ReadonlyMap<string, Wording> {
  const { languages = { en: english, de: german }, overrides = {}, supportAddress } = options
  if (typeof options.product !== 'string') {
    throw new TypeError('mailWriter: "product" must be a text, such as "Acme"')
  }
  const product = singleLine(options.product)
  if (product === '') throw new TypeError('mailWriter: "product" is empty')
  const unknown = Object.keys(overrides).find((tag) => !Object.hasOwn(languages, tag))
  if (unknown !== undefined) {
    throw new TypeError(`mailWriter: "overrides" has "${unknown}", which "languages" lacks`)
  }
  const wordings = Object.entries(languages).map(([tag, language]): [string, Wording] => [
    tag,
    {
      language,
      overrides: overrides[tag] ?? {},
      times: timesIn(tag, options),
      product,
      supportAddress: supportAddress === undefined ? null : singleLine(supportAddress),
    },
  ])
  return new Map(wordings)
}

function timesIn(
  tag: string,
  { timeZone = 'UTC', now = systemClock.now }: MailWriterOptions<string>,
) {
  try {
    return writtenTimes(tag, timeZone, now)
  } catch (cause) {
    const problem = `mailWriter: "${tag}" is no language tag, or "${timeZone}" no time zone`
    throw new TypeError(problem, { cause })
  }
}

/**
 * The first of the wanted language ranges that leads to one of the languages there are, by the lookup of RFC 4647 §3.4:
 * `de-AT` leads to `de` where there is no `de-AT`. Null where none does.
 */
function languageOf(available: readonly string[], wanted: readonly string[]): string | null {
  for (const range of wanted) {
    for (let prefix = range.toLowerCase(); prefix !== ''; prefix = shortened(prefix)) {
      const found = available.find((one) => one.toLowerCase() === prefix)
      if (found !== undefined) return found
    }
  }
  return null
}

/** A range without its last subtag, and without one of a single letter before it, which introduces it. */
function shortened(range: string): string {
  const shorter = range.slice(0, Math.max(range.lastIndexOf('-'), 0))
  return shorter.at(-2) === '-' ? shorter.slice(0, -2) : shorter
}
