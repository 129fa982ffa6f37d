import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  english,
  german,
  type MailContext,
  type MailFrame,
  type MailLanguage,
  type MailWordsOf,
  type MailWriterOptions,
  mailWriter,
} from '../../src/mails/index.js'
import type { Mail } from '../../src/ports/host.js'
import { sampleMails, sentAt } from './sample-mails.js'

const now = () => sentAt
const of = <T extends Mail['template']>(template: T): Extract<Mail, { template: T }> => {
  const isIt = (mail: Mail): mail is Extract<Mail, { template: T }> => mail.template === template
  return sampleMails.find(isIt) ?? expect.fail()
}

describe('the language of a mail', () => {
  const write = mailWriter({ product: 'Acme' })
  const mail = of('passwordChanged')

  it.each([
    [undefined, 'en'],
    [{}, 'en'],
    [{ locale: 'de' }, 'de'],
    [{ locale: 'de-AT' }, 'de'],
    [{ locale: 'DE-at' }, 'de'],
    [{ locale: 'fr' }, 'en'],
    [{ locale: 'den' }, 'en'],
    [{ locale: '' }, 'en'],
    [{ locale: null, acceptLanguage: 'de' }, 'de'],
    [{ locale: 'fr', acceptLanguage: 'de' }, 'de'],
    [{ locale: 'en', acceptLanguage: 'de' }, 'en'],
    [{ acceptLanguage: 'de-AT,de;q=0.9,en;q=0.5' }, 'de'],
    [{ acceptLanguage: 'fr, de-CH;q=0.4, en;q=0.5' }, 'en'],
    [{ acceptLanguage: 'de;q=0, en;q=0.1' }, 'en'],
    [{ acceptLanguage: 'de-x-private' }, 'de'],
    [{ acceptLanguage: '*' }, 'en'],
    [{ acceptLanguage: '<script>' }, 'en'],
    [{ acceptLanguage: 'constructor, __proto__' }, 'en'],
    [{ acceptLanguage: null }, 'en'],
  ])('for %j is %s', (reader, expected) => {
    const { locale, html, text } = write(mail, reader)
    expect(locale).toBe(expected)
    expect(html).toContain(`<html lang="${expected}" dir="ltr">`)
    expect(text).toContain(expected === 'de' ? 'Guten Tag' : 'Hello')
  })

  it('is that of the mail, unless the host knows better', () => {
    const link: Mail = { ...of('resetPassword'), languages: ['fr', 'de-at', 'en'] }
    expect(write(link).locale).toBe('de')
    expect(write(link, { locale: 'it', acceptLanguage: 'fr' }).locale).toBe('de')
    expect(write(link, { acceptLanguage: 'en' }).locale).toBe('en')
    expect(write(link, { locale: 'en-GB' }).locale).toBe('en')
  })

  it('is the one of the writer where the reader’s is not there', () => {
    expect(mailWriter({ product: 'Acme', locale: 'de' })(mail).locale).toBe('de')
    expect(mailWriter({ product: 'Acme', languages: { de: german } })(mail).locale).toBe('de')
  })

  it('may be another one, and a closer one goes first', () => {
    const french: MailLanguage = {
      ...english,
      direction: 'rtl',
      greeting: (name) => `Bonjour ${name},`,
    }
    const austrian: MailLanguage = { ...german, greeting: (name) => `Grüß Gott ${name},` }
    const languages = { en: english, de: german, 'de-AT': austrian, fr: french }
    const writeMore = mailWriter({ product: 'Acme', languages, locale: 'fr', now })
    expect(writeMore(mail, { locale: 'de-AT-1996' }).text).toMatch(/^Grüß Gott/)
    expect(writeMore(mail, { locale: 'de-CH' }).text).toMatch(/^Guten Tag/)
    const { text, html } = writeMore(mail, { locale: 'it' })
    expect(text).toMatch(/^Bonjour Ada Lovelace,/)
    expect(text).toContain('23 novembre 2026')
    expect(html).toContain('<html lang="fr" dir="rtl">')
  })

  it('is whole, or does not compile', () => {
    const { loginSuspicious: _, ...rest } = english.mails
    expectTypeOf(rest).not.toExtend<MailLanguage['mails']>()
    expectTypeOf<{ subject: ''; before: []; after: [] }>().toExtend<MailWordsOf<'newDevice'>>()
    expectTypeOf<{ subject: ''; before: []; after: [] }>().not.toExtend<
      MailWordsOf<'resetPassword'>
    >()
    const languages = { en: english, fr: english }
    // @ts-expect-error there are no words for it
    expect(() => mailWriter({ product: 'Acme', languages, locale: 'de' })).toThrow(TypeError)
    // @ts-expect-error nor without languages of the host
    expect(() => mailWriter({ product: 'Acme', locale: 'fr' })).toThrow(TypeError)
    type Data = MailContext<'emailChanged'>['data']
    expectTypeOf<Data>().toEqualTypeOf<{ readonly at: number; readonly newEmail: string }>()
  })
})

describe('other words', () => {
  const overrides: MailWriterOptions['overrides'] = {
    en: {
      resetPassword: ({ product, timeUntil, data }) => ({
        subject: `${product}: your new\r\npassword`,
        button: 'Go <on>',
        before: [`Within ${timeUntil(data.expiresAt)}.`],
      }),
      newDevice: ({ data }) => ({ before: [`${data.userAgent} from ${data.ip}`] }),
      emailChanged: ({ data }) => ({ subject: `Now ${data.newEmail}` }),
    },
  }
  const write = mailWriter({ product: 'Acme', now, overrides })

  it('take the place of those parts of one mail in one language', () => {
    const { subject, text, html } = write(of('resetPassword'))
    expect(subject).toBe('Acme: your new password')
    expect(text).toContain('Within 1 hour.\n\nGo <on>:\nhttps://')
    expect(text).toContain('Your password stays as it is.')
    expect(text).not.toContain('was requested')
    expect(html).toContain('>Go &lt;on&gt;</a>')
    const shipped = mailWriter({ product: 'Acme', now })
    for (const mail of [of('resetPassword'), of('newDevice')]) {
      expect(write(mail, { locale: 'de' })).toEqual(shipped(mail, { locale: 'de' }))
    }
    expect(write(of('verifyEmail'))).toEqual(shipped(of('verifyEmail')))
  })

  it('get values that begin no line and name no link, also for a subject', () => {
    const device = of('newDevice')
    const userAgent = 'Click/1 https://evil.example\r\n(Windows)'
    const { text } = write({ ...device, data: { ...device.data, userAgent, ip: '::1\n\nx' } })
    expect(text).toContain('\n\nClick/1, Windows from ::1 x\n\n')
    const changed = of('emailChanged')
    const newEmail = 'a@b.example\r\nBcc: c@d.example'
    const { subject } = write({ ...changed, data: { ...changed.data, newEmail } })
    expect(subject).toBe('Now a@b.example Bcc: c@d.example')
  })

  it('may stand in a page of the host', () => {
    const layout = ({ locale, direction, title, content }: MailFrame) =>
      `[${locale} ${direction} ${title}]${content}`
    const framed = mailWriter({ product: 'A & B', locale: 'de', layout, now })(of('newDevice'))
    expect(framed.html).toMatch(/^\[de ltr Neue Anmeldung bei Ihrem Konto bei A &amp; B\]<h1 /)
    expect(framed.html).not.toContain('<html')
  })
})

describe('times', () => {
  it('are in the time zone of the writer, which is named', () => {
    const mail = of('passwordChanged')
    const time = (timeZone: string, locale: string) =>
      mailWriter({ product: 'Acme', timeZone })(mail, { locale }).text.match(
        /^(?:Time|Zeit): (.*)$/m,
      )?.[1]
    expect(time('UTC', 'en')).toBe('November 23, 2026 at 08:04 UTC')
    expect(time('America/New_York', 'en')).toBe('November 23, 2026 at 03:04 EST')
    expect(time('Europe/Vienna', 'de')).toBe('23. November 2026 um 09:04 MEZ')
  })

  it.each([
    [24 * 60, '24 hours', '24 Stunden'],
    [60, '1 hour', '1 Stunde'],
    [59.9, '1 hour', '1 Stunde'],
    [45, '45 minutes', '45 Minuten'],
    [90, '90 minutes', '90 Minuten'],
    [150, '2 hours', '2 Stunden'],
    [1, '1 minute', '1 Minute'],
    [-5, '1 minute', '1 Minute'],
  ])('of %d minutes are %s', (minutes, inEnglish, inGerman) => {
    const mail = of('resetPassword')
    const expiresAt = sentAt + minutes * 60_000
    const sent: Mail = { ...mail, data: { ...mail.data, expiresAt } }
    const write = mailWriter({ product: 'Acme', now })
    expect(write(sent).text).toContain(`works once, for ${inEnglish}: until `)
    expect(write(sent, { locale: 'de' }).text).toContain(`gilt einmal, ${inGerman} lang: bis `)
  })

  it('to come are counted from now, by the machine’s clock unless told otherwise', () => {
    const mail = of('resetPassword')
    const expiresAt = Date.now() + 30 * 60_000
    const { text } = mailWriter({ product: 'Acme' })({ ...mail, data: { ...mail.data, expiresAt } })
    expect(text).toContain('for 30 minutes:')
  })
})

describe('options that cannot work', () => {
  it.each([
    [{ product: ' ' }, 'mailWriter: "product" is empty'],
    [{}, 'mailWriter: "product" must be a text, such as "Acme"'],
    [
      { product: 'Acme', timeZone: 'Europe/Atlantis' },
      'mailWriter: "en" is no language tag, or "Europe/Atlantis" no time zone',
    ],
    [
      { product: 'Acme', languages: { no_tag: english } },
      'mailWriter: "no_tag" is no language tag, or "UTC" no time zone',
    ],
    [
      { product: 'Acme', languages: {} },
      'mailWriter: "locale" is "undefined", which "languages" has no words for',
    ],
    [
      { product: 'Acme', locale: 'toString' },
      'mailWriter: "locale" is "toString", which "languages" has no words for',
    ],
    [
      { product: 'Acme', overrides: { fr: {} } },
      'mailWriter: "overrides" has "fr", which "languages" lacks',
    ],
  ])('%j: %s', (options, message) => {
    expect(() => mailWriter(options as MailWriterOptions)).toThrow(new TypeError(message))
  })
})
