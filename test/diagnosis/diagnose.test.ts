import { beforeAll, expect, it } from 'vitest'
import { createAuth } from '../../src/create-auth.js'
import { secretBox } from '../../src/crypto/secret-box.js'
import { openCollections } from '../../src/domain/context/open-collections.js'
import { sealTotp } from '../../src/domain/factors/totp-factors.js'
import type { AuthOptions } from '../../src/options.js'
import { systemRandom } from '../../src/system/machine.js'
import { systemClock } from '../../src/system/system-clock.js'
import { soundOptions } from '../support/cli/sound-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { configKey } from '../support/keys.js'
import { spyBackend } from '../support/stores/spy-backend.js'

let sound: Partial<AuthOptions>
beforeAll(async () => {
  // The time of a hash is measured by the clock that is given.
  sound = { ...(await soundOptions()), clock: systemClock }
})

it('writes nothing, also where a module was never registered', async () => {
  const { backend, written } = spyBackend()
  const { auth } = await testAuth({ ...sound, backend })
  written.splice(0)
  expect(await auth.diagnose()).toEqual([])
  expect(written).toEqual([])
  await auth.close()

  const unregistered = spyBackend()
  const other = await createAuth({
    ...{ keys: { current: '' }, mailer: { send: async () => {} }, sweep: false },
    ...sound,
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com' },
    },
    backend: unregistered.backend,
  })
  const findings = await other.diagnose()
  expect(findings.map(({ problem }) => problem)).toEqual([
    'The module "auth" has no stored values in "production".',
  ])
  expect(unregistered.written).toEqual([])
  await other.close()
})

it('takes the page of an app neither for one of this machine nor for one of the other surface', async () => {
  const { auth } = await testAuth({
    ...sound,
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: {
        baseUrl: 'https://app.example.com',
        allowedOrigins: ['capacitor://localhost', 'ionic://admin.example.com'],
      },
    },
  })
  expect(await auth.diagnose()).toEqual([])
  await auth.close()
})

it('tells of a product without a name', async () => {
  const { auth } = await testAuth({ ...sound, settings: {} })
  const findings = await auth.diagnose()
  expect(findings).toMatchObject([{ check: 'settings' }])
  expect(findings[0]?.remedy).toContain('totpIssuer=')
  await auth.close()
})

it('rejects where the database does not answer, and says nothing of it', async () => {
  const { backend, fail } = spyBackend()
  const { auth } = await testAuth({ ...sound, backend })
  fail(() => new Error('connection refused'))
  await expect(auth.diagnose()).rejects.toMatchObject({ code: 'service_unavailable' })
  fail(null)
  await auth.close()
})

it('tells of an idle window and of a tenant that are not those of the environment', async () => {
  const findingsFor = async (env: Record<string, string>) => {
    const { auth } = await testAuth({
      ...sound,
      env: { ...sound.env, ...env },
      settings: {
        ...sound.settings,
        microsoftClientEnabled: true,
        microsoftClientId: 'registered',
        microsoftClientSecret: 'a-secret-of-the-host',
      },
      fetcher: { fetch: async () => ({ status: 200, body: '{"keys":[{}]}' }) },
    })
    const findings = await auth.diagnose()
    // Neither needs the network.
    expect(await auth.diagnose({ offline: true })).toEqual(findings)
    await auth.close()
    return findings.map(({ check, problem }) => [check, problem])
  }
  const tenant = '6f1b0b4c-3f0e-4d0e-9c59-2f4a4f7f2a11'
  const right = { JWT_REFRESH_TOKEN_EXPIRY: '12h', MICROSOFT_TENANT_ID: tenant }
  expect(await findingsFor(right)).toEqual([])
  const wrong = { JWT_REFRESH_TOKEN_EXPIRY: '1hr', MICROSOFT_TENANT_ID: 'contoso.example' }
  expect(await findingsFor(wrong)).toEqual([
    ['settings', 'Environment variable JWT_REFRESH_TOKEN_EXPIRY is not a duration; using 7d.'],
    ['settings', expect.stringContaining('"auth.microsoftTenant" in "production"')],
    ['providers', 'Microsoft is switched on and has no tenant, so that it is not offered.'],
  ])
})

it('asks no provider offline', async () => {
  const asked: string[] = []
  const { auth } = await testAuth({
    ...sound,
    settings: {
      ...sound.settings,
      githubClientEnabled: true,
      githubClientId: 'registered',
      githubClientSecret: 'a-secret-of-the-host',
    },
    fetcher: {
      async fetch({ url }) {
        asked.push(url)
        return { status: 401, body: '{}' }
      },
    },
  })
  expect(await auth.diagnose({ offline: true })).toEqual([])
  expect(asked).toEqual([])
  expect(await auth.diagnose()).toEqual([])
  expect(asked).toEqual(['https://api.github.com/user'])
  await auth.close()
})

it('tells of a list that differs by its name alone, and of no secret', async () => {
  const stored = await testAuth({
    ...sound,
    settings: {
      ...sound.settings,
      githubClientSecret: 'the-first-secret',
      oauthRedirectTargets: [
        { slug: 'web', uri: 'https://app.example.com/in', surface: 'client', flow: 'web' },
      ],
    },
  })
  await stored.auth.close()
  const { auth } = await testAuth({
    ...sound,
    backend: stored.backend,
    settings: {
      ...sound.settings,
      githubClientSecret: 'another-secret',
      oauthRedirectTargets: [
        { slug: 'web', uri: 'https://app.example.com/out', surface: 'client', flow: 'web' },
      ],
      // The same, spelled otherwise.
      stepUpMaxAge: '900s',
    },
  })
  const findings = await auth.diagnose()
  expect(findings.map(({ problem }) => problem.split(' that the host')[0])).toEqual([
    'The value of "auth.oauthRedirectTargets" in "production"',
    'The value of "auth.githubClientSecret" in "production"',
  ])
  expect(JSON.stringify(findings)).not.toMatch(/the-first-secret|another-secret|example\.com/)
  await auth.close()
})

it('tells of apps whose key is gone or not the first any more, on both surfaces', async () => {
  const [gone, older, first] = [configKey('gone'), configKey('older'), configKey('first')]
  const { auth, backend } = await testAuth({ ...sound, configKeys: [first, older] })
  const enroll = async (surface: 'operator' | 'client', name: string, confirmed = true) => {
    const { id: userId } = await auth[surface].users.create({ email: `${name}@example.org` })
    const key = [gone, older, first].find((one) => name.startsWith(one.id)) ?? first
    const box = secretBox([key], systemRandom)
    await openCollections(backend.store, surface, '').totpFactors.insert({
      ...{
        id: userId,
        userId,
        expiresAt: null,
        ...sealTotp({ surface, secretBox: box }, userId, 'S'),
      },
      ...{ confirmed, lastStep: 0, removingBy: null, enrollmentId: null, createdAt: 0 },
      ...{ boundTo: '', credentialEpoch: 0, deviceEpoch: 0 },
    })
  }
  await enroll('client', 'first')
  await enroll('client', 'gone-unconfirmed', false)
  await enroll('client', 'older-unconfirmed', false)
  expect(await auth.diagnose()).toEqual([])
  for (const surface of ['operator', 'client'] as const) {
    await enroll(surface, 'gone')
    await enroll(surface, 'gone-too')
    await enroll(surface, 'older')
  }
  const told = async () => (await auth.diagnose()).map(({ check, problem }) => [check, problem])
  const lost = (surface: string) => [
    'encryption',
    `No key of configKeys with the id "gone" opens secrets of authenticator apps (${surface}): their users cannot sign in by a code.`,
  ]
  const left = (surface: string) => [
    'encryption',
    expect.stringMatching(
      `^Secrets of authenticator apps \\(${surface}\\) are under the key "older"`,
    ),
  ]
  const all = [lost('operator'), left('operator'), lost('client'), left('client')]
  expect(await told()).toEqual(all)
  await auth.config.reencrypt()
  expect(await told()).toEqual([lost('operator'), lost('client')])
  await auth.close()
})
