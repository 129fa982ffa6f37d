import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mailWriter, type WrittenMail } from '../../src/mails/index.js'
import type { Mail } from '../../src/ports/host.js'
import { sampleMails, sentAt } from './sample-mails.js'

/** Any UTF-16 text, half surrogates too, with what breaks lines, markup and templates in it more often. */
const hostile = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom('<', '>', '&', '"', "'", '\r\n', '\n', '\r', '\u2028', '\u2029', '\u0085'),
      fc.constantFrom('<script>', '</p>', '-->', '{{', '${', '\0', '\u202e', ' ', 'https://'),
      fc.constantFrom(
        '\r\nBcc: x@example.org\r\n\r\n',
        'Firefox/',
        'Windows',
        'curl/8',
        'x'.repeat(300),
      ),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

interface Texts {
  readonly name: string
  readonly newEmail: string
  readonly userAgent: string
  readonly ip: string
  readonly provider: string
}

/** The mail with these texts where it has such members. */
function withTexts(mail: Mail, { name, ...members }: Texts): Mail {
  const data: Readonly<Record<string, unknown>> = { ...mail.data }
  const own = Object.entries(members).filter(([member]) => member in data)
  return { ...mail, name, data: { ...data, ...Object.fromEntries(own) } } as Mail
}

const plain = { name: 'x', newEmail: 'x', userAgent: 'x', ip: 'x', provider: 'x' }
const texts = fc.record({
  ...{ name: hostile, newEmail: hostile, userAgent: hostile, ip: hostile, provider: hostile },
})

const lines = (text: string) => text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
const tags = (html: string) => html.match(/<[^>]*>?/g)
/** Control characters but for the line feeds of the mail itself, and halves of a character. */
const unprintable = /[^\P{Cc}\n]|\p{Cs}/u

function expectSameShape(written: WrittenMail, expected: WrittenMail): void {
  expect(lines(written.text)).toHaveLength(lines(expected.text).length)
  expect(tags(written.html)).toEqual(tags(expected.html))
  // An ampersand begins a reference of ours.
  expect(written.html).not.toMatch(/&(?!(amp|lt|gt|quot|#39);)/)
  expect(written.text).not.toMatch(unprintable)
  expect(written.html).not.toMatch(unprintable)
  expect(written.subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
}

describe.each(['en', 'de'])('whatever a value says, in %s', (locale) => {
  const writer = mailWriter({ product: 'Acme', now: () => sentAt })
  const write = (mail: Mail) => writer(mail, { locale })

  it.each(sampleMails.map((mail) => [mail.template, mail] as const))(
    '%s keeps its lines and its markup',
    (_template, mail) => {
      const expected = write(withTexts(mail, plain))
      fc.assert(
        fc.property(texts, (drawn) => expectSameShape(write(withTexts(mail, drawn)), expected)),
        { numRuns: 150 },
      )
    },
  )
})

describe('the options of a host', () => {
  it('are escaped as well, and begin no line', () => {
    const [mail = expect.fail()] = sampleMails
    const written = (text: string) =>
      mailWriter({ product: text, supportAddress: text, now: () => sentAt })(mail)
    fc.assert(
      fc.property(
        hostile.map((text) => `x${text}`),
        (text) => {
          const [actual, expected] = [written(text), written('x')]
          expect(lines(actual.text)).toHaveLength(lines(expected.text).length)
          expect(tags(actual.html)).toEqual(tags(expected.html))
          expect(actual.subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('a link', () => {
  const write = mailWriter({ product: 'Acme' })
  const to = { surface: 'client', to: 'ada@example.org', name: '' } as const
  const linking = (url: string): Mail => ({ ...to, template: 'accountExists', data: { url } })

  it('stands escaped in its attribute', () => {
    const { html } = write(linking('https://app.example.com/a?b=1&c="><script>\'#d=<e>'))
    const [, href = ''] = /href="([^"]*)"/.exec(html) ?? []
    expect(href).toBe('https://app.example.com/a?b=1&amp;c=%22%3E%3Cscript%3E%27#d=%3Ce%3E')
    const usual = write(linking('https://app.example.com/')).html
    const names = (page: string) => page.match(/<[^\s>]*/g)
    expect(names(html)).toEqual(names(usual))
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', 'ftp://a.example', ' java\nscript:alert(1)'])(
    'is none to %j',
    (url) => {
      const wrong = 'mailWriter: the link of "accountExists" is not http or https'
      expect(() => write(linking(url))).toThrow(new TypeError(wrong))
    },
  )

  it('is none to an address that is not whole', () => {
    expect(() => write(linking('/login'))).toThrow(TypeError)
  })
})

describe('what a mail says of a caller', () => {
  const write = mailWriter({ product: 'Acme' })
  const [to] = sampleMails.filter(({ template }) => template === 'newDevice')

  const device = (userAgent: string | null): string | undefined => {
    if (to?.template !== 'newDevice') return undefined
    const { text } = write({ ...to, data: { ...to.data, userAgent } })
    return /^Browser or app: (.*)$/m.exec(text)?.[1]
  }

  const mozilla = (system: string, rest: string) => `Mozilla/5.0 (${system}) ${rest}`
  const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

  it.each([
    [mozilla('Windows NT 10.0; rv:140.0', 'Gecko/20100101 Firefox/140.0'), 'Firefox, Windows'],
    [mozilla('X11; Linux x86_64', chrome), 'Chrome, Linux'],
    [mozilla('X11; CrOS x86_64 14541.0.0', chrome), 'Chrome, ChromeOS'],
    [mozilla('Linux; Android 10; K', chrome), 'Chrome, Android'],
    [mozilla('Linux; Android 14', `SamsungBrowser/27.0 ${chrome}`), 'Samsung Internet, Android'],
    [mozilla('Windows NT 10.0; Win64', `${chrome} Edg/140.0.0.0`), 'Edge, Windows'],
    [mozilla('Windows NT 10.0; Win64', `${chrome} OPR/120.0.0.0`), 'Opera, Windows'],
    [mozilla('Macintosh; Intel Mac OS X 10_15_7', safari), 'Safari, macOS'],
    [mozilla('iPhone; CPU iPhone OS 18_0 like Mac OS X', safari), 'Safari, iPhone'],
    [mozilla('iPad; CPU OS 18_0 like Mac OS X', `FxiOS/140.0 ${safari}`), 'Firefox, iPad'],
    [mozilla('iPhone; CPU iPhone OS 18_0', `CriOS/140.0 ${safari}`), 'Chrome, iPhone'],
    ['Firefox/140.0', 'Firefox'],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['Shop-App/4.2 (iPhone; iOS 18)', 'Shop-App/4.2, iPhone'],
    ['node', 'unknown'],
    ['Mozilla/5.0', 'unknown'],
    ['Mozilla/5.0 (Windows NT 10.0)', 'Windows'],
    ['', 'unknown'],
    [null, 'unknown'],
    // No text of theirs, and nothing that a mail program turns into a link or a number to call.
    ['Your account is locked. Visit https://evil.example now', 'unknown'],
    ['evil.example/1.0', 'unknown'],
    ['www.evil.example Firefox/140.0', 'Firefox'],
    ['call-08005551234', 'unknown'],
    ['a'.repeat(200), 'unknown'],
    ['<b>Firefox</b>', 'unknown'],
  ])('%j is %s', (userAgent, expected) => {
    expect(device(userAgent)).toBe(expected)
  })

  it.each([
    ['Ada Lovelace', 'Hello Ada Lovelace,'],
    ['J. R. R. Tolkien', 'Hello J. R. R. Tolkien,'],
    ['Zoë 👩‍🚀', 'Hello Zoë 👩‍🚀,'],
    ['Ada\nLovelace\u202e', 'Hello Ada Lovelace,'],
    ['x'.repeat(100), `Hello ${'x'.repeat(79)}…,`],
    ['👩'.repeat(100), `Hello ${'👩'.repeat(79)}…,`],
    ['', 'Hello,'],
    ['  ', 'Hello,'],
    ['https://evil.example', 'Hello,'],
    ['Visit evil.example', 'Hello,'],
    ['ada@evil', 'Hello,'],
  ])('greets %j as %j', (name, expected) => {
    const [mail = expect.fail()] = sampleMails
    expect(write({ ...mail, name }).text.split('\n')[0]).toBe(expected)
  })
})
