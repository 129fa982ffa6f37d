import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/package/build-package.js'
import { command } from '../support/package/packed-package.js'

const esbuild = fileURLToPath(new URL('../../node_modules/esbuild/bin/esbuild', import.meta.url))

let built: BuiltPackage

beforeAll(async () => {
  // With what else the package ships, because chunks are shared.
  built = await buildPackage({
    index: 'src/index.ts',
    client: 'src/client/index.ts',
    'client-mobile': 'src/client/mobile.ts',
    react: 'src/react/index.ts',
    mails: 'src/mails/index.ts',
  })
})

afterAll(() => built?.remove())

/** As a host's bundler makes it for a page. It fails where a module of Node is reached. */
async function minified(name: string): Promise<string> {
  return bundled(built.file(name))
}

async function bundled(file: string): Promise<string> {
  const out = file.replace(/js$/, 'min.js')
  const form = [
    '--bundle',
    '--platform=browser',
    '--format=esm',
    '--minify',
    '--target=es2022',
    '--external:react',
  ]
  await command(dirname(file), esbuild, file, ...form, `--outfile=${out}`)
  return readFileSync(out, 'utf8')
}

const sizeOf = async (name: string): Promise<number> =>
  gzipSync(await minified(name), { level: 9 }).byteLength

describe('postern/client for a page', () => {
  it('is at most 5 KiB, by esbuild and gzip', async () => {
    const bytes = await sizeOf('client')
    expect(bytes).toBeLessThanOrEqual(5120)
    expect(bytes).toBeGreaterThan(2048)
  })

  it('has nothing of the client for apps', async () => {
    expect(await minified('client')).not.toMatch(/refreshToken|x-token-delivery/)
  })
})

describe('postern/client/mobile for an app', () => {
  it('is at most 6 KiB, by esbuild and gzip', async () => {
    const bytes = await sizeOf('client-mobile')
    expect(bytes).toBeLessThanOrEqual(6144)
    expect(bytes).toBeGreaterThan(2048)
  })
})

describe('postern/react', () => {
  it('is at most 1 KiB without react and client, and loads no client', async () => {
    expect(await sizeOf('react')).toBeLessThanOrEqual(1024)
    expect(await minified('react')).not.toContain('PosternError')
  })

  it('says that its hooks are not for server components', () => {
    expect(readFileSync(built.file('react'), 'utf8')).toMatch(/^["']use client["'];\n/)
  })
})

describe('postern/mails', () => {
  it('is at most 7 KiB with both languages, and needs nothing of Node', async () => {
    expect(await sizeOf('mails')).toBeLessThanOrEqual(7 * 1024)
    expect(await minified('mails')).not.toMatch(/node:|require\(|\bBuffer\b|\bprocess\./)
  })
})

describe('the clients', () => {
  it.each(['client', 'client-mobile'])(
    'load no other file, and nothing of Node: %s',
    async (name) => {
      const file = built.file(name)
      const imported = readFileSync(file, 'utf8').matchAll(/(?:from|^import) "\.\/(.*)";$/gm)
      const chunks = [...imported].map(([, name = '']) => join(dirname(file), name))
      const sources = [file, ...chunks].flatMap((path): readonly string[] => {
        return JSON.parse(readFileSync(`${path}.map`, 'utf8')).sources
      })
      expect(sources.length).toBeGreaterThan(10)
      expect(sources.filter((path) => !path.includes('src/client/'))).toEqual([])
      expect(await minified(name)).not.toMatch(/node:|require\(|\bBuffer\b|\bprocess\./)
    },
  )
})

describe('a page that uses one name of a subpath', () => {
  it.each([
    ['client', 'isPosternError', 'POST /logout'],
    ['client-mobile', 'isPosternError', 'refresh_token_reused'],
    ['mails', 'english', 'Passwort'],
  ])('has nothing else of it: %s', async (name, used, unused) => {
    const page = join(dirname(built.file(name)), `page-of-${name}.js`)
    writeFileSync(page, `import { ${used} } from './${name}.js'\nglobalThis.used = ${used}\n`)
    const script = await bundled(page)
    expect(script).toContain('globalThis.used')
    expect(script).not.toContain(unused)
    expect(await minified(name)).toContain(unused)
  })
})
