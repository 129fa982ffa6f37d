import { describe, expect, it } from 'vitest'
import { authSettingDeclarations } from '../../../src/settings/settings.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { person, signIn } from '../../support/people/people.js'
import { type Change, type SettingsHost, settingsHost } from './settings-host.js'

type Texts = Readonly<Record<string, string>>

/** Nothing was stored; the host has only its first values. */
async function expectUnchanged(host: SettingsHost, environment = 'production'): Promise<void> {
  const seen = (await host.get(`/environments/${environment}`)).json()
  expect(seen['revision']).toBe(1)
}

/** Codes of the validators: four members, of which the detail names the key. */
const judged: Readonly<Record<string, RegExp>> = {
  'auth.oauth_incomplete': /"(?:google|microsoft|apple|github)\w+" must be set/,
  'auth.no_login_method': /"passwordLogin(?:Operator|Client)Enabled"/,
  'auth.no_mfa_method': /"mfaPolicy(?:Operator|Client)"/,
}

function expectRefusal(reply: Reply, code: string, config: Texts): void {
  const named = judged[code]
  expectProblem(reply, 422, code, named === undefined ? Object.keys(config)[0] : undefined)
  if (named !== undefined) expect(reply.json()['detail']).toMatch(named)
}

const withElement = (field: string, texts: Texts): Change => ({
  recordLists: [{ field, create: ['one'], remove: [] }],
  config: Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`${field}.one.${name}`, text]),
  ),
})

const target = (uri: string, flow = 'web'): Change =>
  withElement('oauthRedirectTargets', {
    uri,
    surface: 'client',
    flow,
    ...(flow === 'mobile' ? { appId: 'org.example.app' } : {}),
  })

const webhook = (url: string, signingSecret = 'whsec-planted-of-at-least-32-characters'): Change =>
  withElement('securityWebhooks', { url, signingSecret, events: 'all' })

const domain = (text: string): Change =>
  withElement('registrationAllowedDomains', { domain: text, surface: 'both' })

const tooShort = 'auth.access_token_ttl_too_short'
const capRange = 'auth.session_absolute_ttl_out_of_range'
const range = 'auth.value_out_of_range'
const incomplete = 'auth.oauth_incomplete'
const noLogin = 'auth.no_login_method'
const noFactor = 'auth.no_mfa_method'
const factorsOff = { totpEnabled: 'false', webauthnMode: 'off' }

const refused: readonly (readonly [Texts, string])[] = [
  [{ accessTokenTTL: '59s' }, tooShort],
  [{ accessTokenTTL: '0' }, tooShort],
  [{ accessTokenTTL: '59999ms' }, tooShort],
  [{ sessionAbsoluteTTL: '59m' }, capRange],
  [{ sessionAbsoluteTTL: '3599s' }, capRange],
  [{ sessionAbsoluteTTL: '2136h1s' }, capRange],
  [{ sessionAbsoluteTTL: '90d' }, capRange],
  [{ refreshReuseGrace: '61s' }, range],
  [{ passwordMinLength: '7' }, range],
  [{ passwordMinLength: '129' }, range],
  [{ lockoutThreshold: '1' }, range],
  [{ lockoutThreshold: '2' }, range],
  [{ lockoutThreshold: '101' }, range],
  [{ loginRateClient: '0' }, range],
  [{ registrationTermsVersion: 'v'.repeat(65) }, range],
  [{ appleTeamId: 'NINECHARS' }, range],
  [{ microsoftTenant: 'contoso' }, range],
  [{ applePrivateKey: 'not a key' }, range],
  [{ googleClientEnabled: 'true' }, incomplete],
  [{ googleOperatorEnabled: 'true', googleClientId: 'id' }, incomplete],
  [{ microsoftClientEnabled: 'true', microsoftClientSecret: 'planted-ms' }, incomplete],
  [{ appleClientEnabled: 'true', appleServicesId: 'org.example' }, incomplete],
  [{ githubClientEnabled: 'true', githubClientSecret: 'planted-gh' }, incomplete],
  [{ passwordLoginOperatorEnabled: 'false' }, noLogin],
  [{ passwordLoginClientEnabled: 'false' }, noLogin],
  [{ passwordLoginClientEnabled: 'false', webauthnMode: 'secondFactor' }, noLogin],
  [
    {
      passwordLoginOperatorEnabled: 'false',
      googleClientEnabled: 'true',
      googleClientId: 'id',
      googleClientSecret: 'planted',
    },
    noLogin,
  ],
  [{ ...factorsOff, mfaPolicyOperator: 'required' }, noFactor],
  [{ ...factorsOff, mfaPolicyClient: 'required' }, noFactor],
]

/** What the type cannot hold at all. */
const mistyped: readonly Texts[] = [
  { accessTokenTTL: '-5m' },
  { accessTokenTTL: 'soon' },
  { sessionAbsoluteTTL: 'never' },
  { passwordMinLength: 'twelve' },
  { passwordMinLength: '-9' },
  { lockoutThreshold: '3.5' },
  { cookieSameSite: 'Lax' },
  { passwordBlockCommon: 'yes' },
]

const lists: readonly (readonly [string, Change, string | null])[] = [
  ['a web target', target('https://app.example.com/done'), null],
  ['a web target with a query', target('https://app.example.com/done?a=b'), null],
  ['a web target in clear', target('http://app.example.com/done'), 'auth.redirect_invalid'],
  ['a web target with a fragment', target('https://a.example/x#y'), 'auth.redirect_invalid'],
  ['a web target with an empty fragment', target('https://a.example/#'), 'auth.redirect_invalid'],
  ['a web target with a space', target('https://a.example/a b'), 'auth.redirect_invalid'],
  [
    'a web target with a space in its host',
    target('https://a b.example/'),
    'auth.redirect_invalid',
  ],
  ['a web target with a wildcard', target('https://*.a.example/'), 'auth.redirect_invalid'],
  [
    'an app’s link with a wildcard',
    target('https://*.a.example/', 'mobile'),
    'auth.redirect_invalid',
  ],
  ['an app’s scheme with a wildcard', target('org.a.b://*/x', 'mobile'), 'auth.redirect_invalid'],
  ['an asterisk in a path', target('https://a.example/*'), null],
  ['a web target that is a path', target('/done'), 'auth.redirect_invalid'],
  ['a web target with a password', target('https://u:p@a.example/'), 'auth.redirect_invalid'],
  ['a web target of an app', target('org.example.app:/done'), 'auth.redirect_invalid'],
  ['an app’s scheme', target('org.example.app:/done', 'mobile'), null],
  ['an app’s link', target('https://app.example.com/app', 'mobile'), null],
  ['an app’s scheme anybody may have', target('myapp:/done', 'mobile'), 'auth.redirect_invalid'],
  ['a call of any app', target('intent://x/done', 'mobile'), 'auth.redirect_invalid'],
  ['a mail', target('mailto:a@example.com', 'mobile'), 'auth.redirect_invalid'],
  ['a script', target('javascript:alert(1)', 'mobile'), 'auth.redirect_invalid'],
  ['an app in clear', target('http://app.example.com/', 'mobile'), 'auth.redirect_invalid'],
  [
    'a web target that is too long as it is sent',
    target(`https://app.example.com/${'名'.repeat(230)}`),
    'auth.redirect_invalid',
  ],
  ['a web target of many letters', target(`https://app.example.com/${'名'.repeat(220)}`), null],
  ['a webhook', webhook('https://siem.example/in?x=y'), null],
  [
    'a webhook that is too long as it is sent',
    webhook(`https://siem.example/${'名'.repeat(230)}`),
    'auth.webhook_url_invalid',
  ],
  ['a webhook at a public address', webhook('https://8.8.8.8/in'), null],
  ['a webhook with a short secret', webhook('https://siem.example/', 's'.repeat(31)), range],
  ['a webhook with a secret', webhook('https://siem.example/', 's'.repeat(32)), null],
  ['a webhook in clear', webhook('http://siem.example/in'), 'auth.webhook_url_invalid'],
  ['a webhook at no address', webhook('siem'), 'auth.webhook_url_invalid'],
  ['a webhook with a password', webhook('https://u:p@siem.example/'), 'auth.webhook_url_invalid'],
  ...[
    ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1'],
    ...[
      '0.0.0.0',
      '0x7f.1',
      '2130706433',
      '127.1',
      '127.0.0.1.',
      '[::1]',
      '[fd00::1]',
      '[fe80::1]',
    ],
    ...['[::ffff:10.0.0.1]', '[64:ff9b::a00:1]', 'localhost', 'localhost.', 'x.localhost'],
  ].map((name): readonly [string, Change, string] => [
    `a webhook at ${name}`,
    webhook(`https://${name}:8443/in`),
    'auth.webhook_url_invalid',
  ]),
  ['a domain', domain('example.org'), null],
  ['an address for a domain', domain('@example.org'), range],
  ['a pattern for a domain', domain('.example.org'), range],
  ['a wildcard for a domain', domain('*.example.org'), range],
]

describe('the validators of the auth module', () => {
  it('let an environment become active again with a target that only the host may give', async () => {
    const uri = 'http://localhost:3000/in'
    const host = await settingsHost({
      settings: { oauthRedirectTargets: [{ slug: 'web', uri, surface: 'client', flow: 'web' }] },
    })
    expect(outcomeOf(await host.activate('sandbox'))).toBe('200')
    expect(outcomeOf(await host.activate('production'))).toBe('200')
    // An edit may not bring one.
    const edit = { config: { 'oauthRedirectTargets.web.uri': `${uri}/x` } }
    expectProblem(await host.patch(edit), 422, 'auth.redirect_invalid', Object.keys(edit.config)[0])
  })

  it.each(refused)('%j is refused as %s', async (config, code) => {
    const host = await settingsHost({ mailedCode: false })
    const reply = await host.patch({ config })
    expectRefusal(reply, code, config)
    expect(reply.text).not.toContain('planted')
    await expectUnchanged(host)
    // Whichever environment it is, and whichever door.
    expectRefusal(await host.patch({ config }, 'sandbox'), code, config)
    await expectUnchanged(host, 'sandbox')
  })

  const sealed = `enc:v1:k:${'n'.repeat(16)}:${'c'.repeat(23)}`
  const textSettings = authSettingDeclarations.flatMap(({ key, type }) =>
    type === 'FieldString' || type === 'FieldSecret' ? [key] : [],
  )

  it.each(textSettings)('the text of a secret box is no value of %s', async (key) => {
    const host = await settingsHost({ mailedCode: false })
    const reply = await host.patch({ config: { [key]: sealed } })
    expect(reply.status, reply.text).toBe(422)
    await expectUnchanged(host)
  })

  it('nor is it a first value', async () => {
    const settings = { registrationTermsVersion: sealed }
    await expect(settingsHost({ mailedCode: false, settings })).rejects.toMatchObject({
      option: 'settings.registrationTermsVersion',
    })
    for (const member of ['label', 'signingSecret']) {
      const one = { slug: 'siem', url: 'https://siem.example/', signingSecret: 's'.repeat(32) }
      const securityWebhooks = [{ ...one, events: 'all' as const, [member]: sealed }]
      await expect(
        settingsHost({ mailedCode: false, settings: { securityWebhooks } }),
      ).rejects.toMatchObject({
        option: expect.stringContaining(`securityWebhooks[0].${member}`),
      })
    }
  })

  it.each(mistyped)('%j cannot be', async (config) => {
    const host = await settingsHost({ mailedCode: false })
    expectRefusal(await host.patch({ config }), 'auth.value_malformed', config)
    await expectUnchanged(host)
  })

  it.each(lists)('%s', async (_name, change, code) => {
    const host = await settingsHost({ mailedCode: false })
    const reply = await host.patch(change)
    if (code === null) expect(reply.status, reply.text).toBe(200)
    else {
      const secret = 'securityWebhooks.one.signingSecret'
      const isSecret = code === range && change.config?.[secret]
      const [first] = Object.keys(change.config ?? {})
      expectProblem(reply, 422, code, isSecret ? secret : first)
      if (!isSecret) expect(reply.json()['detail']).toMatch(/^"\w+[.]one[.]\w+" /)
      await expectUnchanged(host)
    }
  })

  it.each([
    ['1h', '200'],
    ['89d', '200'],
    ['2136h', '200'],
    ['720h', '200'],
    ['', '200'],
  ])('a cap of "%s" is taken', async (sessionAbsoluteTTL, outcome) => {
    const host = await settingsHost({ mailedCode: false })
    expect(outcomeOf(await host.patch({ config: { sessionAbsoluteTTL } }))).toBe(outcome)
    const shown = (await host.get('/environments/production')).json()
    expect(shown['config']).toMatchObject({ sessionAbsoluteTTL })
    expect(shown['sources']).toMatchObject({ sessionAbsoluteTTL: 'store' })
  })

  it.each([
    ['1m', 60],
    ['24h', 86_400],
    ['25h', 86_400],
    ['48h', 86_400],
    ['999999h', 86_400],
  ])('a lifetime of %s is stored as typed and acts as %i s', async (typed, seconds) => {
    const host = await settingsHost({ mailedCode: false })
    await host.set({ config: { accessTokenTTL: typed } })
    const shown = (await host.get('/environments/production')).json()
    expect(shown['config']).toMatchObject({ accessTokenTTL: typed })
    const { email, password } = await person(host, 'client')
    const reply = await host.send('POST', '/v1/auth/client/login', { body: { email, password } })
    expect(reply.json()['expiresIn']).toBe(seconds)
  })

  it.each([
    ['30s', 60],
    ['90m', 5400],
    ['999999h', 86_400],
    ['soon', 900],
  ])('of the environment %s acts as %i s, until one is set', async (expiry, seconds) => {
    const host = await settingsHost({ env: { JWT_ACCESS_TOKEN_EXPIRY: expiry } })
    const who = await person(host, 'client')
    const seen = async () => {
      const { email, password } = who
      const body = { email, password }
      return (await host.send('POST', '/v1/auth/client/login', { body })).json()['expiresIn']
    }
    expect(await seen()).toBe(seconds)
    await host.set({ config: { accessTokenTTL: '2m' } })
    expect(await seen()).toBe(120)
    await host.set({ config: { accessTokenTTL: '' } })
    expect(await seen()).toBe(seconds)
  })

  it('judges a patch by what it touches: a first value stands in nobody’s way', async () => {
    const host = await settingsHost({
      mailedCode: false,
      settings: { passwordLoginClientEnabled: false },
    })
    expect((await host.patch({ config: { passwordMinLength: '16' } })).status).toBe(200)
    expectProblem(
      await host.patch({ config: { passwordLoginClientEnabled: 'false' } }),
      422,
      noLogin,
    )
    expect((await host.patch({ config: { passwordLoginClientEnabled: '' } })).status).toBe(200)
    const who = await person(host, 'client')
    expect((await signIn(host, 'client', who)).bearer).not.toBe('')
  })

  it('keeps a provider complete and the last door open while they are needed', async () => {
    const host = await settingsHost({ mailedCode: false })
    const google = { googleClientId: 'id', googleClientSecret: 'planted-google' }
    await host.set({ config: { ...google, googleClientEnabled: 'true' } })
    await host.set({ config: { passwordLoginClientEnabled: 'false' } })
    for (const key of Object.keys(google)) {
      expectProblem(await host.patch({ config: { [key]: '' } }), 422, incomplete)
    }
    expectProblem(await host.patch({ config: { googleClientEnabled: 'false' } }), 422, noLogin)
    await host.set({ config: { googleClientEnabled: '', passwordLoginClientEnabled: 'true' } })
  })

  it('passkeys in place of both factors are a login method, while nothing else is', async () => {
    const host = await settingsHost({ mailedCode: false })
    const passwords = {
      passwordLoginOperatorEnabled: 'false',
      passwordLoginClientEnabled: 'false',
    }
    await host.set({ config: { ...passwords, webauthnMode: 'passwordless' } })
    for (const mode of ['secondFactor', 'off', '']) {
      const refused = await host.patch({ config: { webauthnMode: mode } })
      expectProblem(refused, 422, noLogin)
      expect(refused.json()['detail']).toContain('"passwordless"')
    }
    await host.set({
      config: {
        webauthnMode: 'off',
        passwordLoginClientEnabled: 'true',
        passwordLoginOperatorEnabled: '',
      },
    })
  })

  it('keeps one kind of factor on while a policy requires one', async () => {
    const host = await settingsHost({ mailedCode: false })
    await host.set({ config: factorsOff })
    expectProblem(await host.patch({ config: { mfaPolicyClient: 'required' } }), 422, noFactor)
    await host.set({ config: { mfaPolicyClient: 'required', totpEnabled: 'true' } })
    await host.set({ config: { webauthnMode: 'passwordless', totpEnabled: 'false' } })
    expectProblem(await host.patch({ config: { webauthnMode: 'off' } }), 422, noFactor)
    await host.set({ config: { webauthnMode: 'off', mfaPolicyClient: 'off' } })
  })

  it('judges an environment as a whole before it becomes active', async () => {
    const host = await settingsHost({ mailedCode: false })
    const { environments } = (
      await import('../../../src/model/configuration.js')
    ).moduleCollectionsOf(host.backend.store, '')
    const damage = async (values: Texts) => {
      const seen = await environments.get('auth/sandbox')
      const guard = { revision: seen?.revision ?? 0 }
      await environments.update('auth/sandbox', guard, { values, revision: guard.revision + 1 })
    }
    await damage({ passwordLoginOperatorEnabled: 'false' })
    expectProblem(await host.activate('sandbox'), 422, noLogin)
    await damage({ ...factorsOff, mfaPolicyClient: 'required' })
    expectProblem(await host.activate('sandbox'), 422, noFactor)
    await damage({ githubClientEnabled: 'true' })
    expectProblem(await host.activate('sandbox'), 422, incomplete)
    await damage({ accessTokenTTL: '1s' })
    expectProblem(await host.activate('sandbox'), 422, tooShort)
    await damage({ passwordMinLength: 'many' })
    const malformed = await host.activate('sandbox')
    expectProblem(malformed, 422, 'auth.value_malformed')
    expect(malformed.json()['detail']).toContain('"passwordMinLength"')
    await damage({ passwordMinLength: '20' })
    expect((await host.activate('sandbox')).status).toBe(200)
    const body = { email: 'new@example.org', password: 'nineteen characters' }
    const reply = await host.send('POST', '/v1/auth/client/register', { body })
    expectProblem(reply, 422, 'password_policy')
  })
})
