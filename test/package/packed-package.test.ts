import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadedFiles } from '../support/package/loaded-files.js'
import { command, type PackedPackage, packedPackage } from '../support/package/packed-package.js'
import { parseSource } from '../support/rules/parsed-source.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')
const esbuild = join(root, 'node_modules/esbuild/bin/esbuild')

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>
}

const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const dependencies = Object.keys(manifest.dependencies)
const peers = Object.keys(manifest.peerDependencies)

/** Every Node on this machine that the package promises to run on: the tools' own, the system's. */
function runtimes(): readonly (readonly [version: string, program: string])[] {
  const path = (process.env['PATH'] ?? '').split(':')
  const outside = path.filter((folder) => !folder.includes('node_modules'))
  try {
    const env = { PATH: outside.join(':') }
    const version = execFileSync('node', ['-v'], { env, encoding: 'utf8' }).trim()
    const program = execFileSync('node', ['-p', 'process.execPath'], { env, encoding: 'utf8' })
    const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
    const promised = major > 20 || (major === 20 && minor >= 19)
    if (promised && version !== process.version) {
      return [
        [process.version, process.execPath],
        [version, program.trim()],
      ]
    }
  } catch {
    // No other Node on this machine.
  }
  return [[process.version, process.execPath]]
}

/** The sources of which a built file was made, by its source map. */
function sourcesIn(text: string): readonly string[] {
  const map: { readonly sources: readonly string[] } = JSON.parse(text)
  return map.sources
}

const compilerOptions = {
  target: 'es2023',
  lib: ['es2023'],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: ['node'],
  // Our declarations are checked too: a broken one would otherwise turn into `any` in silence.
  skipLibCheck: false,
}

let packed: PackedPackage

beforeAll(async () => {
  packed = await packedPackage()
})

afterAll(() => packed?.remove())

/** Compiles one host program against the installed tarball and returns the file to run. */
async function compiled(name: string, source: string, installed: readonly string[]) {
  return compiledWith(name, source, [...dependencies, ...installed])
}

async function compiledWith(
  name: string,
  source: string,
  installed: readonly string[],
  options: object = compilerOptions,
) {
  const host = packed.host(name, ['@types/node', ...installed])
  copyFileSync(join(root, 'test/package', source), join(host, source))
  writeFileSync(
    join(host, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: [source] }),
  )
  await command(host, process.execPath, tsc, '-p', '.')
  return join(host, source.replace(/ts$/, 'js'))
}

async function output(program: string, file: string): Promise<unknown> {
  const { stdout } = await command(dirname(file), program, file)
  return JSON.parse(stdout)
}

/** Specifiers that a built file, and the chunks it loads, import from outside the package. */
function outerImports(file: string): ReadonlySet<string> {
  const specifiers = [...loadedFiles(join(packed.dir, 'dist', file))].flatMap((path) =>
    parseSource(path, readFileSync(path, 'utf8')).imports.map(({ specifier }) => String(specifier)),
  )
  return new Set(specifiers.filter((name) => !name.startsWith('.')))
}

const foreign = /^(express|fastify|koa|pg|mongodb|redis|ioredis|@electric-sql\/.*)(\/|$)/

/** The pages for users of the package; those of its maintainers stay in the repository. */
const pages = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .sort()

/** The file that a link on a page leads to; null for an address, and for a heading of the page itself. */
function targetOf(href: string, page: string): string | null {
  const [path = ''] = href.split('#')
  if (path === '' || /^[a-z]+:/i.test(path)) return null
  return posix.join(posix.dirname(page), path)
}

/** The ids of a page's headings, as the forges make them. */
function headingsOf(text: string): ReadonlySet<string> {
  const prose = text.replaceAll(/^ *```.*?^ *```$/gms, '')
  return new Set(
    [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

describe('the tarball', () => {
  it('holds the build, the licence and the documents, nothing else', () => {
    const papers = packed.files.filter((path) => !path.startsWith('dist/'))
    expect(papers).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      ...pages.map((page) => `docs/${page}`),
      'package.json',
    ])
    const odd = packed.files.filter((path) => !/\.(js|js\.map|d\.ts)$/.test(path))
    expect(odd).toEqual([...papers, 'dist/sbom.json'].sort())
  })

  it('holds no key and no token', () => {
    const secrets = {
      'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\\n]*[\w+/=]{40}/,
      'a token': /\beyJ[\w-]{20,}\.[\w-]{20,}\.[\w-]{20,}/,
      'a key of 32 bytes': /(?<![\w+/=])[\w+/]{43}=(?![\w+/=])/,
    }
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    const part = () => randomBytes(40).toString('base64url')
    const samples = [
      privateKey,
      JSON.stringify(privateKey),
      `eyJ${part()}.${part()}.${part()}`,
      `key: '${randomBytes(32).toString('base64')}'`,
    ]
    const kindsIn = (text: string) =>
      Object.entries(secrets).flatMap(([kind, form]) => (form.test(text) ? [kind] : []))
    // What finds nothing anywhere would prove nothing.
    for (const sample of samples) expect(kindsIn(sample)).toHaveLength(1)
    const found = packed.files.flatMap((path) =>
      kindsIn(readFileSync(join(packed.dir, path), 'utf8')).map((kind) => `${path}: ${kind}`),
    )
    expect(found).toEqual([])
  })

  it('has pages that lead to pages and headings of their own', () => {
    const texts = new Map(
      packed.files
        .filter((path) => path.endsWith('.md'))
        .map((path) => [path, readFileSync(join(packed.dir, path), 'utf8')]),
    )
    const dead = [...texts].flatMap(([page, text]) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, href = '']) => ({ href, target: targetOf(href, page) ?? page }))
        .filter(({ href }) => !/^[a-z]+:/i.test(href))
        .filter(({ href, target }) => {
          const [, heading] = href.split('#')
          if (!packed.files.includes(target)) return true
          return heading !== undefined && !headingsOf(texts.get(target) ?? '').has(heading)
        })
        .map(({ href }) => `${page}: ${href}`),
    )
    expect(dead).toEqual([])
  })

  it('lists the packages that are installed with it', () => {
    const sbom: {
      readonly bomFormat: string
      readonly metadata: { readonly component: { readonly name: string } }
      readonly components: readonly { readonly name: string; readonly version: string }[]
    } = JSON.parse(readFileSync(join(packed.dir, 'dist/sbom.json'), 'utf8'))
    expect([sbom.bomFormat, sbom.metadata.component.name]).toEqual(['CycloneDX', 'postern'])
    const names = sbom.components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(dependencies))
    // Nothing that users do not get.
    expect(names.filter((name) => /^(vitest|typescript|tsup|esbuild)$/.test(name))).toEqual([])
    expect(JSON.stringify(sbom)).not.toContain(root)
  })

  it('has every file that the exports map names', () => {
    const named = JSON.stringify(manifest.exports).match(/dist\/[^"]+/g) ?? []
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((path) => !packed.files.includes(path))).toEqual([])
  })

  it('has nothing of another package in its files', () => {
    const sources = packed.files
      .filter((path) => path.endsWith('.js.map'))
      .flatMap((path) => sourcesIn(readFileSync(join(packed.dir, path), 'utf8')))
    expect(sources.length).toBeGreaterThan(100)
    expect(sources.filter((source) => !/^(\.\.\/)+(src|adapters)\//.test(source))).toEqual([])
  })

  it('runs nothing at install', () => {
    const shipped = JSON.parse(readFileSync(join(packed.dir, 'package.json'), 'utf8'))
    expect(Object.keys(shipped.scripts)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(pre|post)?install$/)]),
    )
  })

  it('the core imports no framework and no database package', () => {
    const allowed = [...dependencies, '@node-rs/argon2', '@opentelemetry/api']
    const imports = [...outerImports('index.js')].filter((name) => !name.startsWith('node:'))
    expect(imports.length).toBeGreaterThan(0)
    expect(imports.filter((name) => foreign.test(name))).toEqual([])
    expect(
      imports.filter((name) => !allowed.some((d) => name === d || name.startsWith(`${d}/`))),
    ).toEqual([])
  })

  it.each([
    'openapi.js',
    'testing.js',
    'express.js',
    'fastify.js',
    'koa.js',
    'fetch.js',
    'memory.js',
    'postgres.js',
    'mongo.js',
    'redis.js',
  ])('%s loads no framework and no driver at run time', (file) => {
    expect([...outerImports(file)].filter((name) => foreign.test(name))).toEqual([])
  })

  it.each([
    ['client.js', []],
    ['client-mobile.js', []],
    ['client-passkeys.js', ['@simplewebauthn/browser']],
    ['react.js', ['react']],
    ['mails.js', []],
  ])('%s loads %j and nothing else', (file, imported) => {
    expect([...outerImports(file)]).toEqual(imported)
  })

  it('config.js is small, and is made of the configuration rules alone', () => {
    const files = [...loadedFiles(join(packed.dir, 'dist/config.js'))]
    const sources = files.flatMap((path) => sourcesIn(readFileSync(`${path}.map`, 'utf8')))
    const own = /src\/(config\/.*|engine\/.*|errors\/.*)\.ts$/
    expect(sources.length).toBeGreaterThan(10)
    expect(sources.filter((path) => !own.test(path))).toEqual([])
    expect([...outerImports('config.js')]).toEqual([])
    expect([...outerImports('config-secrets.js')].toSorted()).toEqual([
      'node:buffer',
      'node:crypto',
    ])
    // Not minified: hosts' own bundlers do that.
    const bytes = files.reduce((sum, path) => sum + readFileSync(path).byteLength, 0)
    expect(bytes).toBeLessThan(56 * 1024)
  })

  it('its declarations name no package that a host has not installed', () => {
    const known = ['postern', ...dependencies, ...peers]
    const declarations = packed.files.filter((path) => path.endsWith('.d.ts'))
    const types = declarations.flatMap((path) =>
      parseSource(path, readFileSync(join(packed.dir, path), 'utf8')).imports.map(({ specifier }) =>
        String(specifier),
      ),
    )
    const packages = types.filter((name) => !/^(\.|node:)/.test(name))
    expect(packages.length).toBeGreaterThan(0)
    expect(
      packages.filter((name) => !known.some((d) => name === d || name.startsWith(`${d}/`))),
    ).toEqual([])
  })

  it('every peer is optional', () => {
    const required = peers.filter((name) => manifest.peerDependenciesMeta[name]?.optional !== true)
    expect(required).toEqual([])
  })
})

describe('hosts', () => {
  it('a bare strict host compiles against the tarball and runs on every promised Node here, without OpenTelemetry', async () => {
    const file = await compiled('bare', 'host.ts', [])
    for (const [version, program] of runtimes()) {
      expect([version, await output(program, file)]).toEqual([
        version,
        { status: 401, isError: true, options: 'OptionsError' },
      ])
    }
  })

  it('a strict host with OpenTelemetry gets spans and metrics at the providers that it registered', async () => {
    const file = await compiled('telemetry', 'host-telemetry.ts', ['@opentelemetry/api'])
    for (const [version, program] of runtimes()) {
      const counted = ['svc_auth_events_total', 'svc_auth_requests_total']
      expect([version, await output(program, file)]).toEqual([
        version,
        { spans: ['startPasskeyLogin'], counted },
      ])
    }
  })

  it('a strict host uses postern/config with no dependency installed', async () => {
    const file = await compiledWith('config', 'host-config.ts', [])
    for (const [version, program] of runtimes()) {
      expect([version, await output(program, file)]).toEqual([
        version,
        { retries: 3, mode: null, slug: 'gmail-eu', opened: true, sealed: true },
      ])
    }
  })

  it('a CommonJS host compiles against it, and require() gives the classes import gives', async () => {
    const file = await compiled('commonjs', 'host.cts', [])
    for (const [version, program] of runtimes()) {
      expect([version, await output(program, file)]).toEqual([
        version,
        { createAuth: 'function', backend: 'function', sameClass: true },
      ])
    }
  })

  it('a host bundled by esbuild leaves out argon2 alone, and is told of the other hasher if it wants that', async () => {
    const file = await compiled('bundled', 'host-bundled.ts', [])
    const into = join(dirname(file), 'bundle.mjs')
    const apart = ['--external:argon2', `--outfile=${into}`]
    const form = ['--bundle', '--platform=node', '--format=esm']
    await command(dirname(file), esbuild, file, ...form, ...apart)
    for (const [version, program] of runtimes()) {
      const missing =
        'createAuth: option "hash.implementation" needs the package @node-rs/argon2: npm install @node-rs/argon2'
      expect([version, await output(program, into)]).toEqual([
        version,
        { hasPassword: true, missing },
      ])
    }
  })

  it('a strict host with Express and pg compiles against it and mounts it', async () => {
    const types = ['express', 'serve-static', 'body-parser', 'pg'].map((name) => `@types/${name}`)
    const file = await compiled('express', 'host-express.ts', ['express', 'pg', ...types])
    for (const [version, program] of runtimes()) {
      expect([version, await output(program, file)]).toEqual([version, { mounted: 'function' }])
    }
  })

  it('a strict library compiles against it, with declarations of what it was given', async () => {
    const installed = [...dependencies, 'fastify']
    const options = { ...compilerOptions, declaration: true, lib: ['es2023', 'dom'] }
    const file = await compiledWith('library', 'host-library.ts', installed, options)
    const declarations = readFileSync(file.replace(/js$/, 'd.ts'), 'utf8')
    expect(declarations).toContain('NativeGuards<Principal<"operator">')
    expect(declarations).not.toMatch(/\bany\b|dist\//)
  })

  it('a strict app by postern/client/mobile compiles against it, signs in and is remembered', async () => {
    const file = await compiled('app', 'host-app.ts', [])
    const done = {
      before: 'signedOut',
      login: 'authenticated',
      user: 'ada@example.org',
      refusal: 'invalid_credentials',
      after: { status: 'signedOut', reason: null },
    }
    for (const [version, program] of runtimes()) {
      expect([version, await output(program, file)]).toEqual([version, done])
    }
  })

  it('a strict page with React and passkeys compiles against it without the types of Node', async () => {
    const types = ['@types/react', '@types/react-dom']
    const installed = ['@simplewebauthn/browser', 'react', 'react-dom', ...types]
    const lib = ['es2023', 'dom', 'dom.iterable']
    const options = { ...compilerOptions, lib, types: [] }
    const file = await compiledWith('page', 'host-page.ts', installed, options)
    const html = '<form>ada@example.org</form>'
    for (const [version, program] of runtimes()) {
      const rendered = { html, passkeys: ['function', 'function'] }
      expect([version, await output(program, file)]).toEqual([version, rendered])
    }
  })

  it('a strict host with Fastify compiles against it and mounts it', async () => {
    const file = await compiled('fastify', 'host-fastify.ts', ['fastify'])
    for (const [version, program] of runtimes()) {
      expect([version, await output(program, file)]).toEqual([version, { statusCode: 401 }])
    }
  })

  it('a strict host with Koa compiles against it and mounts it', async () => {
    // Koa's types meet another package's than their own here, so that they are not checked themselves.
    const options = { ...compilerOptions, skipLibCheck: true }
    const installed = [...dependencies, 'koa', '@types/koa']
    const file = await compiledWith('koa', 'host-koa.ts', installed, options)
    for (const [version, program] of runtimes()) {
      const mounted = { mounted: 2, wrong: 'function' }
      expect([version, await output(program, file)]).toEqual([version, mounted])
    }
  })
})
