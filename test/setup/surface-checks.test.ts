import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { createAuth } from '../../src/create-auth.js'
import type { SurfaceOptions } from '../../src/options.js'
import { testConfigKeys, testSigningKey } from '../support/keys.js'
import { recordingLogger } from '../support/outside/recording-logger.js'
import { recordingMailer } from '../support/outside/recording-mailer.js'

const admin: SurfaceOptions = { baseUrl: 'https://admin.example.com' }
const app: SurfaceOptions = { baseUrl: 'https://app.example.com' }
const cookieDomain = 'example.com'

async function warningsOf(of: string, operator: SurfaceOptions, client: SurfaceOptions) {
  const logger = recordingLogger()
  const auth = await createAuth({
    backend: memory(),
    keys: { current: await testSigningKey() },
    configKeys: testConfigKeys,
    surfaces: { operator, client },
    mailer: recordingMailer(),
    env: {},
    logger,
  })
  await auth.close()
  const messages = logger.lines.map(({ level, message }) => `${level} ${message}`)
  return messages.filter((message) => message.includes(of))
}

describe('a cookie domain that covers hosts of the other surface', () => {
  it('is warned of once, with both options and the remedy, where both surfaces have it', async () => {
    const [warning = '', ...more] = await warningsOf(
      'cookieDomain',
      { ...admin, cookieDomain },
      { ...app, cookieDomain },
    )
    expect(more).toEqual([])
    expect(warning).toMatch(/^warn /)
    expect(warning).toContain('surfaces.operator.cookieDomain and surfaces.client.cookieDomain')
    expect(warning).toMatch(/leave them out, or name a domain/)
  })

  it.each<[string, SurfaceOptions, SurfaceOptions]>([
    ['operator', { ...admin, cookieDomain }, app],
    ['client', admin, { ...app, cookieDomain }],
    ['operator', { ...admin, cookieDomain }, { ...app, cookieDomain: 'app.example.com' }],
    ['client', admin, { baseUrl: 'https://example.com', cookieDomain }],
    [
      'operator',
      { baseUrl: 'https://admin.test', cookieDomain: 'admin.test' },
      { ...app, hosts: ['go.admin.test:8443'] },
    ],
    [
      'operator',
      { baseUrl: 'https://admin.test', cookieDomain: 'admin.test' },
      { ...app, routesUrl: 'https://api.admin.test' },
    ],
  ])('is warned of where the %s surface has it, case %#', async (surface, operator, client) => {
    const warnings = await warningsOf('cookieDomain', operator, client)
    expect(warnings).toEqual([expect.stringContaining(`surfaces.${surface}.cookieDomain covers`)])
  })

  it.each<[string, SurfaceOptions, SurfaceOptions]>([
    ['neither has one', admin, app],
    [
      'each has its own',
      { ...admin, cookieDomain: 'admin.example.com' },
      { ...app, cookieDomain: 'app.example.com' },
    ],
    [
      'another ends in the same letters',
      { ...admin, cookieDomain: 'admin.example.com' },
      {
        baseUrl: 'https://myadmin.example.com',
      },
    ],
    ['both have the same host', { ...app, cookieDomain: 'app.example.com' }, app],
  ])('is not seen where %s', async (_what, operator, client) => {
    expect(await warningsOf('cookieDomain', operator, client)).toEqual([])
  })
})

const hour = 60 * 60_000

it.each([
  [undefined, 0],
  [hour, 0],
  [hour + 1, 1],
])('a window of mails of %s ms is warned of %i times', async (windowMs, times) => {
  const rateLimits = windowMs === undefined ? {} : { recoveryPerAddress: { limit: 3, windowMs } }
  const found = await warningsOf('recoveryPerAddress', admin, { ...app, rateLimits })
  expect(found).toHaveLength(times)
  for (const message of found) {
    expect(message).toMatch(
      /^warn surfaces\.client\.rateLimits\.recoveryPerAddress\.windowMs is 3600001/,
    )
    expect(message).toContain('Make it at most 3600000')
  }
})
