import { describe, expect, it } from 'vitest'
import { mailWriter } from '../../src/mails/index.js'
import type { MfaChange } from '../../src/ports/events.js'
import type { Mail } from '../../src/ports/host.js'
import { sampleMails, sentAt } from './sample-mails.js'

const write = mailWriter({
  product: 'Acme',
  supportAddress: 'help@acme.example',
  timeZone: 'Europe/Vienna',
  now: () => sentAt + 250,
})

const changes: Readonly<Record<MfaChange, true>> = {
  totpEnrolled: true,
  totpRemoved: true,
  backupCodesRegenerated: true,
  passkeyAdded: true,
  passkeyRemoved: true,
  factorsReset: true,
}

/** Mails that say something else for each value of a member. */
function variants(): readonly Mail[] {
  const to = { surface: 'client', to: 'ada@example.org', name: '' } as const
  const at = sentAt
  return [
    ...Object.keys(changes).map((change) => {
      return { ...to, template: 'mfaChanged', data: { at, change: change as MfaChange } } as const
    }),
    ...(['totp', 'backupCode'] as const).flatMap((method) =>
      (['address', 'knownDevice', 'signInKey', 'sessions'] as const).map((budget) => {
        const data = { at, method, until: at, budget }
        return { ...to, template: 'secondFactorLockedOut', data } as const
      }),
    ),
    ...(['password', 'secondFactor'] as const).map((reason) => {
      const data = { at, reason, ip: null, userAgent: null }
      return { ...to, template: 'loginSuspicious', data } as const
    }),
    ...['google', 'microsoft', 'apple', 'github', 'another'].flatMap((provider) =>
      (['linked', 'unlinked'] as const).map((change) => {
        return { ...to, template: 'identityChanged', data: { at, provider, change } } as const
      }),
    ),
  ]
}

// The files are for reading too: the HTML opens in a browser. `vitest run test/mails -u` writes them.
describe.each(['en', 'de'])('the mails in %s', (locale) => {
  it.each(sampleMails.map((mail) => [mail.template, mail] as const))(
    '%s is as it was read and found good',
    async (template, mail) => {
      const { subject, text, html, ...rest } = write(mail, { locale })
      expect(rest).toEqual({ locale })
      await expect(`${subject}\n\n${text}`).toMatchFileSnapshot(`written/${locale}/${template}.txt`)
      await expect(html).toMatchFileSnapshot(`written/${locale}/${template}.html`)
      expect(Buffer.byteLength(html)).toBeLessThan(8 * 1024)
    },
  )

  it('say each change, method, reason and provider in words of its own', async () => {
    const said = variants().map((mail) => {
      const [, what] = write(mail, { locale }).text.split('\n\n')
      return `${JSON.stringify(mail.data)}\n${what}\n`
    })
    await expect(said.join('\n')).toMatchFileSnapshot(`written/${locale}/variants.txt`)
    const sentences = said.map((one) => one.split('\n')[1])
    expect(new Set(sentences).size).toBe(said.length)
  })

  it.each(sampleMails.map((mail) => [mail.template, mail] as const))(
    '%s loads nothing, and links to what its data has alone',
    (_template, mail) => {
      const { html, text } = write(mail, { locale })
      expect(html).not.toMatch(
        /<(img|script|link|iframe|object|form|input|svg|base)\b|@import|url\(|\bon\w+=/i,
      )
      const links = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, url]) => url)
      const urls = 'url' in mail.data ? [mail.data.url] : []
      expect(links).toEqual(urls)
      expect(text.match(/https?:\S+/g) ?? []).toEqual(urls)
      // In full below the button, for those who want to see where it leads.
      for (const url of urls) expect(html).toContain(`\n${url}</p>`)
    },
  )
})
