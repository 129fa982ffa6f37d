import { describe, expect, it } from 'vitest'
import { createBackgroundTasks } from '../../src/concurrency/background-tasks.js'
import { loadKeyRing } from '../../src/crypto/key-ring.js'
import { webhookSignature } from '../../src/crypto/secrets.js'
import { maxTokenLength } from '../../src/crypto/token-format.js'
import { signAccess, signRefresh } from '../../src/crypto/tokens.js'
import { mailConfirmRegistration } from '../../src/domain/mail/mail-service.js'
import { userProblem } from '../../src/engine/accounts.js'
import { longestBaseUrl, longestUrl, withFragment, withQuery } from '../../src/engine/addresses.js'
import { keptKeys } from '../../src/engine/login-risk-rules.js'
import { clearOthers, hostOnly, setCookie } from '../../src/http/cookies.js'
import { createProviderClients } from '../../src/identity-providers/provider-clients.js'
import { providerIds } from '../../src/identity-providers/providers.js'
import { operations } from '../../src/operations/index.js'
import { redirectProblem, webhookUrlProblem } from '../../src/settings/address-rules.js'
import { securityWebhooks } from '../../src/settings/anti-abuse-settings.js'
import { findSetting } from '../../src/settings/settings.js'
import { oauthShape, surfaceShape } from '../../src/setup/check-options.js'
import { cookiePolicyOf, linksOf, routesUrlOf } from '../../src/setup/surfaces.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { accessClaims, refreshClaims } from '../crypto/claims.js'
import { testSigningKey } from '../support/keys.js'
import { recordingLogger } from '../support/outside/recording-logger.js'
import { recordingMailer } from '../support/outside/recording-mailer.js'
import { testContext } from '../support/test-context.js'

/** What servers and proxies take for one header, or for the address of a request (ASVS 4.2.5). */
const limit = 8192

/** Nine characters as a part of an address; in a parameter of another, fifteen. */
const letter = '名'
/** Characters of which each becomes three as a parameter. */
const filled = (start: string, length: number): string => `${start.padEnd(length - 1, '/')}x`

const host = `${'a.'.repeat(120)}example`
const options = {
  baseUrl: filled(`https://${host}/`, longestBaseUrl),
  cookieDomain: host,
  cookiePath: `/${'p'.repeat(254)}`,
  pages: { verifyEmail: filled('/p/', longestUrl - 'https://localhost'.length) },
}
const endpoint = filled('https://idp.example/', longestUrl)
const target = filled('https://app.example/', longestUrl)
/** Beyond what any part may be, for what is to be refused. */
const over = (text: string): string => `${text}x`

const accepts = (key: string, text: string): boolean => findSetting(key)?.accepts(text) ?? false
const clientId = '😀'.repeat(255)
const randomText = 'r'.repeat(43)

/** Of a key of 16,384 bits, which is as long as OpenSSL verifies. */
const ring = {
  ...(await loadKeyRing({ current: await testSigningKey() })),
  signer: { sign: async () => new Uint8Array(2048), isElsewhere: true },
}
/** A control character takes six bytes of JSON. */
const iss = '\u0001'.repeat(255)
const uuid = '0'.repeat(36)
const amr = ['google', 'pwd', 'otp', 'mfa', 'hwk', 'user']

describe('the longest that is accepted', () => {
  it('is what these tests build with, and one character more is refused', () => {
    expect(surfaceShape.safeParse(options).error).toBeUndefined()
    expect(surfaceShape.safeParse({ ...options, baseUrl: over(options.baseUrl) }).success).toBe(
      false,
    )
    const cookiePath = over(options.cookiePath)
    expect(surfaceShape.safeParse({ ...options, cookiePath }).success).toBe(false)
    const pages = { verifyEmail: over(options.pages.verifyEmail) }
    expect(surfaceShape.safeParse({ ...options, pages }).success).toBe(false)
    const at = (authorization: string) =>
      oauthShape.safeParse({ providers: { google: { endpoints: { authorization } } } }).success
    expect([at(endpoint), at(over(endpoint))]).toEqual([true, false])

    for (const text of [target, `org.example:${letter.repeat(226)}`]) {
      expect(redirectProblem(text, 'mobile', { firstValues: false })).toBeNull()
    }
    const problems = [
      redirectProblem(over(target), 'web', { firstValues: false }),
      redirectProblem(`org.example:${letter.repeat(227)}`, 'mobile', { firstValues: false }),
      webhookUrlProblem(over(target), () => true),
    ]
    expect(problems).toEqual(
      problems.map(() => expect.stringContaining('2,048 characters as it is sent')),
    )
    expect(webhookUrlProblem(target, () => true)).toBeNull()

    for (const id of ['googleClientId', 'microsoftClientId', 'appleServicesId', 'githubClientId']) {
      expect([accepts(id, clientId), accepts(id, over(clientId))]).toEqual([true, false])
    }
    const start = operations.find(({ id }) => id === 'startMobileOauth')
    const body = { redirectUri: 'x', codeChallenge: randomText, codeChallengeMethod: 'S256' }
    const begun = (appState: string) => start?.body?.safeParse({ ...body, appState }).success
    expect([begun(letter.repeat(512)), begun(letter.repeat(513))]).toEqual([true, false])
  })
})

describe('no longer than 8 kB', () => {
  it.each(providerIds)('is the authorization request for %s', async (id) => {
    const endpoints = { [id]: { authorization: endpoint } }
    const fetcher = { fetch: () => Promise.reject(new Error('nothing is asked here')) }
    const clients = createProviderClients({ fetcher, clock: fakeClock(0), endpoints })
    const redirectUri = `${routesUrlOf(options)}/v1/auth/operator/oauth/${id}/callback`
    const credentials = {
      clientId,
      clientSecret: '',
      tenant: uuid,
      teamId: '',
      keyId: '',
    }
    const url = await clients.authorizationUrl(id, credentials, {
      state: randomText,
      nonce: randomText,
      codeVerifier: randomText,
      redirectUri,
      asksForAccount: true,
    })
    expect(url).toContain(encodeURIComponent(redirectUri))
    expect(url.length).toBeGreaterThan(6000)
    expect(url.length).toBeLessThan(limit)
  })

  it('is the way back to the host', () => {
    const error = 'email_not_verified_at_provider_or_any_other_code'
    const echoed = { state: letter.repeat(512) }
    const built = [
      withQuery(target, { error, ...echoed }),
      withQuery(target, { code: randomText, ...echoed }),
      withFragment(target, { status: 'mfa', ticket: randomText, ...echoed }),
      withQuery(`org.example:${letter.repeat(226)}`, { error, ...echoed }),
    ]
    for (const url of built) {
      expect(url.length).toBeGreaterThan(6000)
      expect(url.length).toBeLessThan(limit)
    }
  })

  it('is a mailed link', async () => {
    const mailer = recordingMailer()
    const logger = recordingLogger()
    const background = createBackgroundTasks(logger, (run) => run())
    const links = linksOf(options)
    const ctx = {
      ...(await testContext({ surface: 'operator' })),
      mailer,
      links,
      background,
      logger,
    }
    const ticket = { token: randomText, expiresAt: 0 }
    const sent = mailConfirmRegistration(ctx, { email: 'ada@example.org', languages: [] }, ticket)
    await background.drain()
    expect(await sent).toBe(true)
    const { url } = mailer.last('verifyEmail', 'ada@example.org').data
    expect(url.length).toBeGreaterThan(longestUrl)
    expect(url.length).toBeLessThan(limit)
  })

  it('is a cookie', async () => {
    const policy = cookiePolicyOf('operator', options)
    const refresh = await signRefresh(
      refreshClaims({ iss, sub: uuid, jti: uuid, sid: uuid, amr, gen: Number.MAX_SAFE_INTEGER }),
      ring,
    )
    expect(refresh.length).toBeGreaterThan(4500)
    const maxAge = Number.MAX_SAFE_INTEGER
    const keys = keptKeys(randomText, Array(9).fill(randomText))
    const lines = [
      setCookie(policy, 'refresh', 'strict', { value: refresh, maxAge }),
      setCookie(policy, 'device', 'strict', { value: randomText, maxAge }),
      setCookie(hostOnly(policy), 'registration', 'strict', { value: randomText, maxAge }),
      setCookie(hostOnly(policy), 'recognition', 'strict', { value: keys, maxAge }),
      setCookie(hostOnly(policy), `oauth_form_${'f'.repeat(16)}`, 'none', { value: keys, maxAge }),
      ...clearOthers(policy, 'refresh', 'strict'),
    ]
    for (const line of lines) expect(line.length).toBeLessThan(limit)
  })

  it('is the Authorization header of our clients: a longer token is not minted', async () => {
    const fits = (count: number) =>
      accessClaims({
        memberships: Array.from({ length: count }, () => ({ tenantId: 't'.repeat(64) })),
        ...{ iss: 'i'.repeat(255), sub: uuid, jti: uuid, sid: uuid, amr },
      })
    const most = Array.from({ length: 51 }, (_, index) => index + 1).filter(
      (count) => userProblem({ memberships: fits(count).memberships }) === null,
    )
    const token = await signAccess(fits(most.length), {
      ...ring,
      signer: { sign: async () => new Uint8Array(512), isElsewhere: true },
    })
    expect(token.length).toBeGreaterThan(6000)
    expect(token.length).toBeLessThanOrEqual(maxTokenLength)
    await expect(signAccess(fits(most.length), ring)).rejects.toThrow(RangeError)
    expect(`authorization: Bearer ${'t'.repeat(maxTokenLength)}`.length).toBeLessThan(limit)
  })

  it.each([
    [4096, 200],
    [4097, null],
  ])('is the Authorization header with a provider’s token of %i', async (length, status) => {
    const token = 'g'.repeat(length)
    const sent: string[] = []
    const fetcher = {
      async fetch({ url, headers }: { url: string; headers: Readonly<Record<string, string>> }) {
        if (url.endsWith('/access_token')) {
          const body = JSON.stringify({ access_token: token, token_type: 'bearer' })
          return { status: 200, body }
        }
        sent.push(headers['authorization'] ?? '')
        const isUser = url.endsWith('/user')
        return { status: 200, body: isUser ? '{"id":1815}' : '[]' }
      },
    }
    const clients = createProviderClients({ fetcher, clock: fakeClock(0), endpoints: {} })
    const secrets = { state: randomText, nonce: randomText, codeVerifier: randomText }
    const answer = clients.whoSignedIn(
      'github',
      { clientId: 'id', clientSecret: 'planted', tenant: '', teamId: '', keyId: '' },
      { parameters: { code: 'c', state: randomText }, secrets, redirectUri: target },
    )
    if (status === null) {
      const error: unknown = await answer.catch((reason: unknown) => reason)
      // The caller is told `oauth_failed`, as of any answer that is not to be believed.
      expect(error).toMatchObject({ name: 'ProviderError', isDenial: false })
      expect(String(error)).toMatch(/access token that is too long$/)
      expect(JSON.stringify(Object.entries(Object(error)))).not.toContain('ggg')
      expect(sent).toEqual([])
    } else {
      await expect(answer).resolves.toMatchObject({ subject: '1815' })
      expect(sent).toEqual([`Bearer ${token}`, `Bearer ${token}`])
      for (const header of sent) expect(header.length).toBeLessThan(limit)
    }
  })

  it('is a header of a webhook', () => {
    const most = securityWebhooks.items.find(({ key }) => key === 'signingSecret')?.max ?? 0
    const secrets = [letter.repeat(most), 's'.repeat(most)]
    const signature = webhookSignature(secrets, 'x'.repeat(100_000))
    expect(signature.split(',')).toHaveLength(2)
    expect(signature.length).toBeLessThan(limit)
  })
})
