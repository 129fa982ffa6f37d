import { describe, expect, it } from 'vitest'
import { textOf } from '../../support/hosts/http-client.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { passkeysOn } from '../../support/people/passkey-people.js'
import { signedInPerson } from '../../support/people/people.js'

const android = `android:apk-key-hash:${'A'.repeat(42)}8`

/** Shared by the hosts of a domain, apps and a further page among them. */
const shared = {
  operator: { baseUrl: 'https://admin.example.com' },
  client: {
    baseUrl: 'https://app.example.com',
    allowedOrigins: ['https://www.example.com', 'https://partner.example.org'],
    webauthn: { rpId: 'example.com', origins: [android, 'https://go.example.com'] },
  },
} as const

describe('where passkeys may be used', () => {
  it.each([
    ['https://app.example.com', '201'],
    ['https://www.example.com', '201'],
    ['https://go.example.com', '201'],
    [android, '201'],
    ['https://partner.example.org', '400 webauthn_failed'],
    ['https://admin.example.com', '400 webauthn_failed'],
    ['https://app.example.com:8443', '400 webauthn_failed'],
    [`${android}A`, '400 webauthn_failed'],
  ])('at %s with a shared rpId: %s (WebAuthn §7.1)', async (origin, outcome) => {
    const host = await openHost({ surfaces: shared })
    const who = await signedInPerson(host, 'client')
    const given = { bearer: who.bearer, currentPassword: who.password }
    const authenticator = softwareAuthenticator({ origin })
    const done = await passkeysOn(host, 'client').register(given, authenticator)
    expect(outcomeOf(done)).toBe(outcome)
  })

  it('by default the host of baseUrl, on localhost as well', async () => {
    const surfaces = {
      ...shared,
      client: { baseUrl: 'http://localhost:3000' },
    }
    const host = await openHost({ surfaces })
    const who = await signedInPerson(host, 'client')
    const on = passkeysOn(host, 'client')
    const given = { bearer: who.bearer, currentPassword: who.password }
    const begun = (await on.startRegistration(given)).json()
    expect(begun['options']).toMatchObject({ rp: { id: 'localhost' } })
    const done = await on.register(
      given,
      softwareAuthenticator({ origin: 'http://localhost:3000' }),
    )
    expect(textOf(done.json(), 'name')).toBe('Passkey')
  })

  it.each(['capacitor://localhost', 'tauri://localhost'])(
    'not at %s, though it names the host of baseUrl',
    async (origin) => {
      const client = { baseUrl: 'http://localhost:3000', allowedOrigins: [origin] }
      const host = await openHost({ surfaces: { ...shared, client } })
      const who = await signedInPerson(host, 'client')
      const given = { bearer: who.bearer, currentPassword: who.password }
      const done = await passkeysOn(host, 'client').register(
        given,
        softwareAuthenticator({ origin }),
      )
      expect(outcomeOf(done)).toBe('400 webauthn_failed')
    },
  )

  it('a passkey of one surface is unknown on the other, under one rpId', async () => {
    const surfaces = {
      operator: { ...shared.operator, webauthn: { rpId: 'example.com' } },
      client: { ...shared.client, baseUrl: 'https://admin.example.com/app' },
    }
    const host = await openHost({ surfaces, settings: { webauthnMode: 'passwordless' } })
    const who = await signedInPerson(host, 'client')
    const authenticator = softwareAuthenticator({ origin: 'https://admin.example.com' })
    const given = { bearer: who.bearer, currentPassword: who.password }
    const [client, operator] = [passkeysOn(host, 'client'), passkeysOn(host, 'operator')]
    expect(outcomeOf(await client.register(given, authenticator))).toBe('201')
    expect(outcomeOf(await operator.login(authenticator))).toBe('401 invalid_credentials')
    expect(outcomeOf(await client.login(authenticator))).toBe('200')
  })
})
