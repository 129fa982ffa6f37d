import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { denylistLifeMs } from '../src/domain/context/open-collections.js'
import { defaultRateLimits, type RateLimit } from '../src/domain/limits/rate-limiter.js'
import { openApiDocument } from '../src/openapi/index.js'
import { operations } from '../src/operations/index.js'
import { operationOptions } from '../src/operations/operation.js'
import type { Mail } from '../src/ports/host.js'
import { authSettingDeclarations } from '../src/settings/settings.js'
import { optionsPage, referencePage, withSettingsTables } from '../tools/api/reference.js'
import { asvsPage } from '../tools/asvs-page.js'
import { readLedger } from '../tools/ledger.js'

const page = (name: string): string =>
  readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8')

/** The row of a table whose first cell names `name` in code. */
function rowOf(text: string, name: string): string {
  const row = text.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``))
  return row ?? `no row for ${name}`
}

const window = ({ windowMs }: RateLimit): string => {
  const minutes = windowMs / 60_000
  return `in ${minutes} minute${minutes === 1 ? '' : 's'}`
}

describe('the limits page says what the code does', () => {
  const text = page('limits')
  const limits = { operator: defaultRateLimits('operator'), client: defaultRateLimits('client') }

  it.each(Object.entries(limits.client))('%s', (name, limit) => {
    const row = rowOf(text, name)
    expect(row).toContain(window(limit))
    const own = name === 'registerPerIp' ? limits.operator.registerPerIp.limit : limit.limit
    expect(row).toMatch(new RegExp(`\\b${limit.limit}\\b`))
    expect(row).toMatch(new RegExp(`\\b${own}\\b`))
  })

  it.each(['loginRateOperator', 'loginRateClient', 'lockoutThreshold'])('%s', (key) => {
    const declared = authSettingDeclarations.find((field) => field.key === key)?.default
    expect(rowOf(text, key)).toMatch(new RegExp(`\\b${declared}\\b`))
  })
})

describe('the sessions page says what the code does', () => {
  const text = page('sessions')

  it.each([
    ['sessionAbsoluteTTL', '720h', '30 d'],
    ['refreshReuseGrace', '10s', '10 seconds'],
  ])('%s', (key, stored, said) => {
    expect(authSettingDeclarations.find((field) => field.key === key)?.default).toBe(stored)
    expect(text).toContain(said)
  })

  it('denylist entries', () => {
    expect(denylistLifeMs).toBe((24 * 60 + 1) * 60_000)
    expect(text).toContain('24 hours and a minute')
  })
})

describe('the settings page says what is declared', () => {
  it('each of the 63 settings, group by group', () => {
    expect(page('settings')).toBe(withSettingsTables(page('settings')))
    expect(page('settings').match(/^\| `\w+` .*\| (?:both|operator|client) \|/gm)).toHaveLength(63)
  })
})

describe('the page on mails says which there are', () => {
  const templates = {
    verifyEmail: 'url, token, expiresAt',
    changeEmail: 'url, token, expiresAt',
    resetPassword: 'url, token, expiresAt',
    accountExists: 'url',
    loginCode: 'code, expiresAt, site, at, ip, userAgent',
    newDevice: 'at, ip, userAgent',
    passwordChanged: 'at',
    emailChangeRequested: 'at',
    emailChanged: 'at, newEmail',
    accountDeleted: 'at',
    mfaChanged: 'at, change',
    secondFactorLockedOut: 'at, method, until',
    loginSuspicious: 'at, reason, ip, userAgent',
    deviceTrusted: 'at, ip, userAgent',
    identityChanged: 'at, provider, change',
  } satisfies Record<Mail['template'], string>

  it.each(Object.entries(templates))('%s with %s', (template, data) => {
    const [, table = ''] = page('mails').split('| `template` |')
    expect(rowOf(table, template)).toMatch(new RegExp(`\\| \`${data}\` \\|$`))
  })
})

describe('the reference page says what the table says', () => {
  it('is as `npm run generate` writes it', () => {
    expect(page('reference')).toBe(
      referencePage(operations, openApiDocument({ surfaceOptions: operationOptions })),
    )
  })

  it('has a section for each operation, and each shape and page that it links to', () => {
    const text = page('reference')
    for (const { id } of operations) expect(text).toContain(`\n### ${id}\n`)
    const anchors = [...text.matchAll(/^##+ (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    )
    const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor)
    expect(links.length).toBeGreaterThan(200)
    expect(links.filter((anchor) => !anchors.includes(anchor))).toEqual([])
  })
})

it('the page on the options has each of them, as the sources describe it, and each variable', () => {
  const source = readFileSync(new URL('../src/options.ts', import.meta.url), 'utf8')
  const text = page('options')
  expect(text).toBe(optionsPage(source, authSettingDeclarations))
  const rows = text.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows.length).toBeGreaterThan(60)
  expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([])
  const [, variables = ''] = text.split('## Environment variables')
  for (const name of ['CONFIG_ENCRYPTION_KEY', 'JWT_REFRESH_TOKEN_EXPIRY', 'UV_THREADPOOL_SIZE'])
    expect(variables).toContain(`| \`${name}\` |`)
})

describe('the page on custom stores shows the example as it is', () => {
  const blocks = [
    ...page('custom-store').matchAll(
      /^```ts\n\/\/ (examples\/\S+)\n([^`]*(?:`(?!``)[^`]*)*)^```$/gm,
    ),
  ]
  /** Without indentation, which differs where an excerpt begins deeper. */
  const lines = (text: string): string => text.trim().replaceAll(/^ +/gm, '')

  it('has excerpts', () => {
    expect(blocks.length).toBeGreaterThan(5)
  })

  it.each(blocks.map(([, path = '', excerpt = '']) => [path, lines(excerpt)]))(
    '%s: %s',
    (path, excerpt) => {
      const source = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
      expect(lines(source)).toContain(excerpt)
    },
  )
})

describe('what the pages say of the rows of the OWASP standard', () => {
  const read = (path: string): string =>
    readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
  const ledger = readLedger()

  it('is as `npm run generate` writes it', () => {
    expect(page('asvs')).toBe(asvsPage(ledger))
  })

  it('has every deviation among those of SECURITY.md, and no other there', () => {
    const [, section = ''] = read('SECURITY.md').split('## Deviations from ASVS 5.0')
    const cells = [...section.matchAll(/^\| (\d[\d., ]+) \|/gm)].map(([, ids = '']) => ids)
    const deviations = Object.entries(ledger.asvs).filter(
      ([, row]) => 'standing' in row && row.standing === 'deviation',
    )
    expect(cells.flatMap((ids) => ids.split(', '))).toEqual(deviations.map(([id]) => id))
  })

  it.each([
    ['4.1.2', 'hosts', 'never with a redirect'],
    ['12.3.1', 'operating', '`rediss:` in the address'],
    ['13.1.2', 'operating', 'a pool that is too small'],
  ])('names the page that says what a host does for the row %s', (id, name, words) => {
    expect(ledger.asvs[id]).toMatchObject({
      standing: 'host',
      reason: expect.stringContaining(`docs/${name}.md`),
    })
    expect(page(name).replaceAll(/\s+/g, ' ')).toContain(words)
  })
})

describe('what SECURITY.md says to handle with care', () => {
  it('has each option that loosens a check or puts the host’s function in its place', () => {
    const read = (path: string): string =>
      readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
    const [, section = ''] = read('SECURITY.md').split('## Handle with care')
    const options = [...read('src/options.ts').matchAll(/^ {2}readonly (\w+)\??:/gm)].map(
      ([, name = '']) => name,
    )
    const own = ['trustProxy', 'legacyVerifiers', 'fetcher', 'authorizer', 'riskScorer']
    expect(own.filter((name) => !options.includes(name))).toEqual([])
    const loosening = options.filter((name) => /^allow[A-Z]/.test(name))
    expect(loosening.length).toBeGreaterThan(1)
    for (const name of [...loosening, ...own]) expect(section).toContain(`\`${name}\``)
  })
})

it('the sessions page says how the three lifetimes agree', () => {
  const text = page('sessions').replaceAll(/\s+/g, ' ')
  expect(text).toContain('| access token | 15 m |')
  expect(text).toContain('An access token always has its whole lifetime, also near the idle end')
  expect(text).toContain('The first refresh or `GET session` past it ends the session')
})
