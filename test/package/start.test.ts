import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/package/build-package.js'
import { command } from '../support/package/packed-package.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const esbuild = join(root, 'node_modules/esbuild/bin/esbuild')
const hook = (name: string) => ['--import', pathToFileURL(join(root, 'test/package', name)).href]

/** What the program `host-start` prints. */
interface Start {
  readonly session: number
  readonly passkeys: readonly number[]
  readonly made: boolean
  readonly spans: readonly string[]
  readonly logged: readonly object[]
  /** How often something was written for a language; null where that was not counted. */
  readonly localised: number | null
  readonly atStart: readonly string[]
  readonly afterwards: readonly string[]
}

let built: BuiltPackage
let folder: string

beforeAll(async () => {
  built = await buildPackage({
    index: 'src/index.ts',
    openapi: 'src/openapi/index.ts',
    express: 'adapters/express.ts',
    fetch: 'adapters/fetch.ts',
    memory: 'adapters/memory/index.ts',
    postgres: 'adapters/postgres/index.ts',
    host: 'test/package/host-start.ts',
    providers: 'test/package/host-providers.ts',
  })
  folder = dirname(built.file('index'))
})

afterAll(() => built?.remove())

async function printed<T>(...parts: readonly string[]): Promise<T> {
  const { stdout } = await command(root, process.execPath, ...parts)
  return JSON.parse(stdout)
}

/** The packages of modules, and the names of built files without their hashes. */
function namesOf(urls: readonly string[]): readonly string[] {
  const names = urls.map((url) => {
    const [, inside] = url.split('node_modules/')
    if (inside === undefined) return basename(url).replace(/(-[A-Z0-9]{8})?\.js$/, '')
    return /^(@[^/]+\/)?[^/]+/.exec(inside)?.[0] ?? inside
  })
  return [...new Set(names)].filter((name) => name !== 'chunk' && name !== 'host').sort()
}

/** As a host's bundler makes it of what the package ships. */
async function bundled(into: string, entry: string, ...more: readonly string[]): Promise<void> {
  // Hosts that did not ask for the second hasher have not installed it.
  const apart = ['--external:*.node', '--external:@node-rs/argon2', ...more]
  const form = ['--bundle', '--platform=node', '--format=esm', '--minify']
  await command(folder, esbuild, entry, ...form, ...apart, `--outdir=${into}`)
}

describe('what a process loads', () => {
  it('is zod and the OpenTelemetry of the host until the first request has its reply', async () => {
    const start = await printed<Start>(...hook('load-hooks.mjs'), built.file('host'))
    expect(start.session).toBe(401)
    expect(namesOf(start.atStart)).toEqual(['@opentelemetry/api', 'zod'])
    expect(namesOf(start.afterwards)).toEqual(
      expect.arrayContaining(['@simplewebauthn/server', 'jose']),
    )
  })

  it('has nothing that is written for a language, whose first use takes 8 MiB of a process', async () => {
    const { localised } = await printed<Start>(...hook('load-hooks.mjs'), built.file('host'))
    expect(localised).toBe(0)
  })

  it('works for callers side by side, and traces go to the provider the host registered', async () => {
    const start = await printed<Start>(...hook('trace-hooks.mjs'), built.file('host'))
    expect(start).toMatchObject({ passkeys: [200, 200, 200], made: true, logged: [] })
    expect(start.spans).toContain('startPasskeyLogin')
  })

  it('is tried again after it failed, and the log names it', async () => {
    const failing = [...hook('load-hooks.mjs'), built.file('host'), '@simplewebauthn/server']
    const { passkeys, logged } = await printed<Start>(...failing)
    expect([...passkeys].sort()).toEqual([200, 200, 500])
    expect(logged).toEqual([
      expect.objectContaining({
        operation: 'startPasskeyLogin',
        error: 'LoadError',
        detail: expect.stringContaining('WebAuthn could not be loaded'),
        cause: expect.objectContaining({ code: 'EMFILE' }),
      }),
    ])
  })

  it('is tried again for identity providers, and is no fault of theirs', async () => {
    const failing = [...hook('load-hooks.mjs'), built.file('providers'), 'provider-sign-in']
    const names = await printed<readonly string[]>(...failing)
    expect(names).toEqual(['LoadError', 'ProviderError', 'ProviderError'])
  })
})

describe('a host that bundles the package', () => {
  it('has at most 1,500 KiB of code, compressed', async () => {
    const usual = join(folder, 'usual.js')
    writeFileSync(
      usual,
      `import { createAuth } from './index.js'
      import { expressGuards, expressRouter } from './express.js'
      import { postgres } from './postgres.js'
      globalThis.used = [createAuth, expressGuards, expressRouter, postgres]`,
    )
    await bundled(join(folder, '../whole'), usual)
    const code = readFileSync(join(folder, '../whole/usual.js'))
    expect(gzipSync(code).byteLength).toBeLessThan(1500 * 1024)
  })

  it('has every part in one file, which works alone', async () => {
    await bundled(join(folder, '../one'), built.file('host'), '--external:argon2')
    const alone = mkdtempSync(join(tmpdir(), 'postern-alone-'))
    try {
      cpSync(join(folder, '../one/host.js'), join(alone, 'host.mjs'))
      const start = await printed<Start>(join(alone, 'host.mjs'))
      expect(start).toMatchObject({
        session: 401,
        passkeys: [200, 200, 200],
        made: true,
        logged: [],
      })
    } finally {
      rmSync(alone, { recursive: true, force: true })
    }
  })
})
