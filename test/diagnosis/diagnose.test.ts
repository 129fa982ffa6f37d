import { beforeAll, expect, it } from 'vitest'
import { createAuth } from '../../src/create-auth.js'
import type { AuthOptions } from '../../src/options.js'
import { systemClock } from '../../src/system/system-clock.js'
import { soundOptions } from '../support/cli/sound-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
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

it('rejects where the database does not answer, and says nothing of it', async () => {
  const { backend, fail } = spyBackend()
  const { auth } = await testAuth({ ...sound, backend })
  fail(() => new Error('connection refused'))
  await expect(auth.diagnose()).rejects.toMatchObject({ code: 'service_unavailable' })
  fail(null)
  await auth.close()
})

it('asks no provider offline', async () => {
  const asked: string[] = []
  const { auth } = await testAuth({
    ...sound,
    settings: {
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
