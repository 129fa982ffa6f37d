import type { Mail } from '../ports/host.js'
import type {
  MailContext,
  MailData,
  MailFact,
  MailLanguage,
  MailOverrides,
  MailTemplate,
  MailWords,
} from './mail-language.js'
import { plainValue, singleLine } from './single-line.js'
import type { WrittenTimes } from './written-times.js'

/** A mail in words, before it is text or HTML. Each text is one line of plain text. */
export interface MailParts {
  readonly subject: string
  readonly greeting: string
  readonly before: readonly string[]
  readonly facts: readonly { readonly label: string; readonly value: string }[]
  /** Null in a mail without a link. `url` is http or https, without spaces. */
  readonly button: { readonly text: string; readonly url: string; readonly hint: string } | null
  readonly after: readonly string[]
  readonly foot: readonly string[]
}

/** Everything that one language of a writer says, and how it writes times. */
export interface Wording {
  readonly language: MailLanguage
  readonly overrides: MailOverrides
  readonly times: WrittenTimes
  readonly product: string
  readonly supportAddress: string | null
}

const longest = { name: 80, value: 254 }

/** A mail program makes a link of it: an address, or a name with a dot before letters. */
const linkLike = /[/:@]|\.\p{L}{2}/u

/** Throws `TypeError` for a link that is not http or https. */
export function mailParts(mail: Mail, wording: Wording): MailParts {
  const { language, times, product, supportAddress } = wording
  const data = plainData(mail.data)
  const words = wordsOf(mail.template, data, wording)
  const name = plainValue(mail.name, longest.name)
  const lines = (texts: readonly string[]) => texts.map(singleLine)
  return {
    subject: singleLine(words.subject),
    greeting: singleLine(language.greeting(linkLike.test(name) ? '' : name)),
    before: lines(words.before),
    facts: factsOf(data, times).map(([fact, value]) => ({
      label: singleLine(language.labels[fact]),
      value: singleLine(value ?? language.labels.unknown),
    })),
    button:
      'url' in data && words.button !== undefined
        ? {
            text: singleLine(words.button),
            url: webAddress(data.url, mail.template),
            hint: singleLine(language.linkHint),
          }
        : null,
    after: lines(words.after),
    foot: lines(language.foot(product, supportAddress)),
  }
}

function wordsOf<T extends MailTemplate>(
  template: T,
  data: MailData[T],
  { language, overrides, times, product }: Wording,
): MailWords & { readonly button?: string } {
  const context: MailContext<T> = { product, data, ...times }
  return { ...language.mails[template](context), ...overrides[template]?.(context) }
}

/** The data, of which no text is longer or has more lines than it looks. */
function plainData(data: Mail['data']): Mail['data'] {
  return {
    ...data,
    ...('newEmail' in data ? { newEmail: plainValue(data.newEmail, longest.value) } : {}),
    ...('provider' in data ? { provider: plainValue(data.provider, longest.value) } : {}),
    ...('ip' in data && data.ip !== null ? { ip: plainValue(data.ip, longest.value) } : {}),
    ...('userAgent' in data && data.userAgent !== null
      ? { userAgent: deviceName(data.userAgent) }
      : {}),
  }
}

/** What the mail lists, in this order. Null stands for unknown. */
function factsOf(
  data: Mail['data'],
  { time }: WrittenTimes,
): readonly (readonly [MailFact, string | null])[] {
  return [
    ...('newEmail' in data ? [['newAddress', data.newEmail] as const] : []),
    ...('at' in data ? [['time', time(data.at)] as const] : []),
    ...('ip' in data ? [['ipAddress', data.ip] as const] : []),
    ...('userAgent' in data ? [['device', data.userAgent] as const] : []),
    ...('until' in data ? [['refusedUntil', time(data.until)] as const] : []),
  ]
}

function webAddress(url: string, template: MailTemplate): string {
  const { protocol, href } = new URL(url)
  if (protocol === 'https:' || protocol === 'http:') return href
  throw new TypeError(`mailWriter: the link of "${template}" is not http or https`)
}

type Named = readonly (readonly [mark: string, name: string])[]

/** The first that occurs decides: most name those after them too. */
const browsers: Named = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
]

const systems: Named = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
]

/** The name of an app and its version: nothing that a mail program makes a link or a telephone number of. */
const app = /^([a-z][a-z_-]{0,23}\d{0,2})\/\d{1,5}(?:\.\d{1,5}){0,3}(?![\w./-])/i

/**
 * The browser and the system that a `User-Agent` names, such as `Firefox, Windows`, or the app, such as `curl/8.5.0`.
 * Null where it names neither. A caller writes this header as they like, so its text itself is mailed to no one.
 */
function deviceName(userAgent: string): string | null {
  const nameIn = (table: Named) => table.find(([mark]) => userAgent.includes(mark))?.[1]
  const [named, name] = app.exec(userAgent) ?? []
  const program = nameIn(browsers) ?? (name === 'Mozilla' ? undefined : named)
  const parts = [program, nameIn(systems)].filter((one) => one !== undefined)
  return parts.length === 0 ? null : parts.join(', ')
}
