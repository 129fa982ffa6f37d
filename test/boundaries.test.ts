import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ambientViolations } from './support/rules/ambient-rules.js'
import { violations } from './support/rules/boundaries.js'
import { looseTypes, sharedState, smallFiles, untidyFile } from './support/rules/house-rules.js'
import { parseSource } from './support/rules/parsed-source.js'

const root = fileURLToPath(new URL('../', import.meta.url))

function sources(...patterns: string[]): ReadonlyMap<string, string> {
  const paths = globSync(patterns, { cwd: root, exclude: (path) => path.includes('node_modules') })
  return new Map(
    paths
      .map((path) => path.replaceAll('\\', '/'))
      .sort()
      .map((path) => [path, readFileSync(`${root}${path}`, 'utf8')]),
  )
}

const shipped = sources('src/**/*.ts', 'adapters/**/*.ts')
const examples = sources('examples/**/*.ts')

/** A tiny clean tree, for planted files to import from. */
const cleanTree = new Map([
  ['src/errors/index.ts', 'export class AuthError extends Error {}\n'],
  ['src/ports/store.ts', 'export interface Store { get(id: string): Promise<string | null> }\n'],
  [
    'src/engine/age.ts',
    "import { AuthError } from '../errors/index.js'\nexport const age = (now: number) => { if (now < 0) throw new AuthError() }\n",
  ],
  [
    'src/crypto/hash.ts',
    "import { createHash } from 'node:crypto'\nexport const hash = createHash\n",
  ],
  [
    'src/domain/surface/surface-context.ts',
    "import { age } from '../../engine/age.js'\nimport type { Store } from '../../ports/store.js'\nexport interface SurfaceContext { age: typeof age; store: Store }\n",
  ],
  [
    'src/domain/login/password-login.ts',
    "import { hash } from '../../crypto/hash.js'\nexport const login = hash\n",
  ],
  ['src/domain/sessions/sessions.ts', 'export const clearedLogin = () => ({})\n'],
  [
    'src/domain/login/login-pipeline.ts',
    "import { clearedLogin } from '../sessions/sessions.js'\nexport const open = clearedLogin\n",
  ],
  ['src/http/http-message.ts', 'export interface Exchange { path: string }\n'],
  [
    'src/http/pipeline.ts',
    "import type { SurfaceContext } from '../domain/surface/surface-context.js'\nexport type Serve = (ctx: SurfaceContext) => void\n",
  ],
  ['src/system/clock.ts', 'export const clock = { now: () => Date.now() }\n'],
  [
    'src/testing/fake-clock.ts',
    "import type { Store } from '../ports/store.js'\nexport type Fake = Store\n",
  ],
  [
    'src/create-auth.ts',
    "import { login } from './domain/login/password-login.js'\nexport const createAuth = () => [login, process.env['X']]\n",
  ],
  ['adapters/shared/rows.ts', 'export const rows = 1\n'],
  [
    'adapters/fetch.ts',
    "import type { Exchange } from '../src/http/http-message.js'\nexport type Handler = (exchange: Exchange) => void\n",
  ],
  [
    'adapters/postgres/index.ts',
    "import type { Pool } from 'pg'\nimport { rows } from '../shared/rows.js'\nexport const pg = (pool: Pool) => [pool, rows]\n",
  ],
  [
    'examples/quickstart/main.ts',
    "import express from 'express'\nimport { createAuth } from 'postern'\ncreateAuth()\nexpress()\n",
  ],
])

const planted = (path: string, source: string) =>
  violations(new Map([...cleanTree, [path, source]])).map((text) => text.slice(path.length + 1))

describe('folders depend on each other in one direction only', () => {
  it('holds for every file of the package and its examples', () => {
    expect(shipped.size).toBeGreaterThan(0)
    expect(violations(new Map([...shipped, ...examples]))).toEqual([])
  })

  it('finds nothing in a clean tree', () => {
    expect(violations(cleanTree)).toEqual([])
  })

  it.each([
    [
      'an engine that imports a built-in',
      'src/engine/bad.ts',
      "import { createHash } from 'node:crypto'",
      '1: may not import node:crypto',
    ],
    [
      'an engine that imports a bare built-in',
      'src/engine/bad.ts',
      "import { join } from 'path'",
      '1: may not import node:path',
    ],
    [
      'an engine that imports a package',
      'src/engine/bad.ts',
      "import { z } from 'zod'",
      '1: may not import zod',
    ],
    [
      'an engine that imports a port, even as a type',
      'src/engine/bad.ts',
      "import type { Store } from '../ports/store.js'",
      '1: may not import src/ports/store.ts',
    ],
    [
      'checks that import more than ports',
      'src/checks/bad.ts',
      "import { AuthError } from '../errors/index.js'",
      '1: may not import src/errors/index.ts',
    ],
    [
      'http that imports a framework',
      'src/http/bad.ts',
      "import express from 'express'",
      '1: may not import express',
    ],
    [
      'http that imports a framework type',
      'src/http/bad.ts',
      "import type { Request } from 'express'",
      '1: may not import express',
    ],
    [
      'http that loads cryptography',
      'src/http/bad.ts',
      "import { hash } from '../crypto/hash.js'",
      '1: may not import src/crypto/hash.ts',
    ],
    [
      'a domain that imports http',
      'src/domain/bad.ts',
      "import type { Exchange } from '../http/http-message.js'",
      '1: may not import src/http/http-message.ts',
    ],
    [
      'a way of signing in that clears its logins itself',
      'src/domain/login/password-login.ts',
      "import { clearedLogin } from '../sessions/sessions.js'",
      '1: may import src/domain/sessions/sessions.ts by "import type" only',
    ],
    [
      'an adapter that imports the domain',
      'adapters/koa.ts',
      "import type { SurfaceContext } from '../src/domain/surface/surface-context.js'",
      '1: may not import src/domain/surface/surface-context.ts',
    ],
    [
      'an adapter that loads the exchange',
      'adapters/koa.ts',
      "import { e } from '../src/http/http-message.js'",
      '1: may import src/http/http-message.ts by "import type" only',
    ],
    [
      'an adapter that loads its driver',
      'adapters/mongo.ts',
      "import { MongoClient } from 'mongodb'",
      '1: may import mongodb by "import type" only',
    ],
    [
      'an inline type, which still loads the module',
      'adapters/mongo.ts',
      "import { type MongoClient } from 'mongodb'",
      '1: may import mongodb by "import type" only',
    ],
    [
      'an adapter that loads its driver late',
      'adapters/mongo.ts',
      "\nexport const load = () => import('mongodb')",
      '2: may import mongodb by "import type" only',
    ],
    [
      'an adapter that imports another adapter',
      'adapters/koa.ts',
      "import { pg } from './postgres/index.js'",
      '1: may not import adapters/postgres/index.ts',
    ],
    [
      'src that imports the test kit',
      'src/create-auth.ts',
      "import type { Fake } from './testing/fake-clock.js'",
      '1: may not import src/testing/fake-clock.ts',
    ],
    [
      'src that imports an adapter',
      'src/create-auth.ts',
      "export * from '../adapters/fetch.js'",
      '1: may not import adapters/fetch.ts',
    ],
    [
      'src that imports the package by its public name',
      'src/domain/bad.ts',
      "import type { createAuth } from 'postern'",
      '1: may not import postern',
    ],
    [
      'an example that reaches into src',
      'examples/quickstart/main.ts',
      "import { createAuth } from '../../src/create-auth.js'",
      '1: may not import src/create-auth.ts',
    ],
    [
      'an import type in a type position',
      'src/http/bad.ts',
      "export type R = import('express').Request",
      '1: may not import express',
    ],
    [
      'an import by require',
      'src/domain/bad.ts',
      "import fs = require('node:fs')",
      '1: may not import node:fs',
    ],
    [
      'an import with a computed name',
      'src/domain/bad.ts',
      'export const load = (name: string) => import(name)',
      '1: imports a module whose name is computed',
    ],
    [
      'an import of a missing file',
      'src/domain/bad.ts',
      "import { gone } from './gone.js'",
      '1: imports ./gone.js, which does not exist',
    ],
    [
      'a port with a value',
      'src/ports/bad.ts',
      'export const limit = 5',
      '1: a port may hold types only',
    ],
    [
      'a port that re-exports a value',
      'src/ports/bad.ts',
      "export { Store } from './store.js'",
      '1: a port may hold types only',
    ],
    [
      'a domain that imports the composition root',
      'src/domain/bad.ts',
      "import type { createAuth } from '../create-auth.js'",
      '1: may not import src/create-auth.ts',
    ],
    [
      'a composition root that imports the test kit',
      'src/set-up.ts',
      "import type { Fake } from './testing/fake-clock.js'",
      '1: may not import src/testing/fake-clock.ts',
    ],
    [
      'a file that belongs to no folder',
      'src/helpers/x.ts',
      'export const x = 1',
      '1: belongs to no folder of the import rules',
    ],
  ])('reports %s', (_name, path, source, expected) => {
    expect(planted(path, source)).toEqual([expected])
  })
})

describe('time and randomness come from ports only', () => {
  it('holds for every file of the package', () => {
    const found = [...shipped].flatMap(([path, source]) =>
      ambientViolations(parseSource(path, source)),
    )
    expect(found).toEqual([])
  })

  it.each([
    [
      'Date.now',
      'src/domain/bad.ts',
      'export const t = () => Date.now()',
      '1: reads the machine clock',
    ],
    [
      'new Date()',
      'src/http/bad.ts',
      'export const t = () => new Date()',
      '1: reads the machine clock',
    ],
    ['Date()', 'adapters/koa.ts', 'export const t = () => Date()', '1: reads the machine clock'],
    [
      'setTimeout',
      'src/domain/bad.ts',
      'export const t = () => setTimeout(() => {}, 1)',
      '1: uses the global setTimeout',
    ],
    [
      'setInterval',
      'adapters/koa.ts',
      'export const t = () => setInterval(() => {}, 1)',
      '1: uses the global setInterval',
    ],
    [
      'a timer that is passed on',
      'src/testing/bad.ts',
      'export const t = { after: setTimeout }',
      '1: uses the global setTimeout',
    ],
    [
      'a timer module',
      'adapters/koa.ts',
      "import { setTimeout as wait } from 'node:timers/promises'",
      '1: imports node:timers/promises',
    ],
    [
      'AbortSignal.timeout',
      'adapters/koa.ts',
      'export const s = () => AbortSignal.timeout(5)',
      '1: starts a timer by AbortSignal.timeout',
    ],
    [
      'performance.now',
      'src/domain/bad.ts',
      'export const t = () => performance.now()',
      '1: uses the global performance',
    ],
    [
      'Math.random',
      'src/domain/bad.ts',
      'export const r = () => Math.random()',
      '1: uses Math.random',
    ],
    [
      'crypto.randomUUID',
      'src/domain/bad.ts',
      'export const r = () => crypto.randomUUID()',
      '1: draws randomness by crypto.randomUUID',
    ],
    [
      'randomBytes',
      'src/crypto/bad.ts',
      "import { randomBytes } from 'node:crypto'",
      '1: imports randomBytes of node:crypto',
    ],
    [
      'globalThis.crypto.randomUUID',
      'src/domain/bad.ts',
      'export const r = () => globalThis.crypto.randomUUID()',
      '1: draws randomness by crypto.randomUUID',
    ],
    [
      'a timer in the test kit',
      'src/testing/bad.ts',
      'export const t = () => setInterval(() => {}, 1)',
      '1: uses the global setInterval',
    ],
    [
      'process.env',
      'src/http/bad.ts',
      "export const e = () => process.env['X']",
      '1: uses the global process',
    ],
    [
      'globalThis',
      'src/http/bad.ts',
      'export const e = () => globalThis.process',
      '1: uses the global globalThis',
    ],
    [
      "the database's clock in milliseconds",
      'adapters/mariadb/bad.ts',
      'export const q = "delete from t where expires_at < unix_timestamp(now(3))"',
      "1: reads the database's clock",
    ],
    [
      "the database's clock",
      'adapters/postgres/bad.ts',
      'export const q = "delete from t where expires_at < now()"',
      "1: reads the database's clock",
    ],
    [
      'a Date in the engine',
      'src/engine/bad.ts',
      'export const d = (ms: number) => new Date(ms)',
      '1: uses the global Date',
    ],
    ['an async engine', 'src/engine/bad.ts', 'export const f = async () => 1', '1: is async'],
    [
      'a Promise in the engine',
      'src/engine/bad.ts',
      'export const f = (): Promise<void> | null => null',
      '1: uses Promise',
    ],
    [
      'process in the engine',
      'src/engine/bad.ts',
      'export const p = () => process.pid',
      '1: uses the global process',
    ],
  ])('reports %s', (_name, path, source, expected) => {
    expect(planted(path, source)).toContain(expected)
  })

  it('allows dates that are computed, and members that merely share a name', () => {
    const source = `
      export const iso = (ms: number) => new Date(ms).toISOString()
      export interface Job { process: () => void; performance: number }
      export const run = (job: Job) => job.process()
    `
    expect(planted('src/domain/good.ts', source)).toEqual([])
  })
})

describe('house rules', () => {
  const found = (rule: typeof looseTypes, files = shipped) =>
    [...files].flatMap(([path, source]) => rule(path, source))

  it('src and adapters use no any and no non-null assertion', () => {
    expect(found(looseTypes)).toEqual([])
  })

  it('no module keeps state', () => {
    expect(found(sharedState)).toEqual([])
  })

  it('files stay neither long nor needlessly small, and are named in kebab-case', () => {
    expect(found(untidyFile, new Map([...shipped, ...examples]))).toEqual([])
    expect(smallFiles(shipped)).toEqual([])
  })

  it.each([
    'export const f = (x: any) => x',
    'export const f = (x: string | null) => x!.length',
    'export class A { x!: string }',
  ])('reports the loose type in %s', (source) => {
    expect(looseTypes('src/bad.ts', source)).toHaveLength(1)
  })

  it.each([
    'let count = 0',
    'const cache = new Map<string, string>()',
    "export const names = new Set(['a'])",
    'const seen = new WeakMap()',
    "const names = new Set(['a'])\nexport const add = (n: string) => names.add(n)",
    'const list: string[] = []\nexport const add = (n: string) => list.push(n)',
    'const state = { hits: 0 }\nexport const hit = () => { state.hits += 1 }',
    'const state = { hits: 0 }\nexport const hit = () => state.hits++',
    'const table: Record<string, string> = {}\nexport const drop = (k: string) => { delete table[k] }',
    'const word = /a/g\nexport const has = (s: string) => word.test(s)',
    'export class A { static cache = new Map([[1, 2]]) }',
    'export class A { static count = 0 }',
  ])('reports the shared state in %j', (source) => {
    expect(sharedState('src/bad.ts', source)).toHaveLength(1)
  })

  it.each([
    "const names = new Set(['a'])\nexport const has = (n: string) => names.has(n)",
    "export const names: ReadonlySet<string> = new Set(['a'])",
    'export const make = () => { let n = 0; const m = new Map(); return () => m.set(n++, 1) }',
    "export const clean = (s: string) => s.replace(/a/g, 'b')",
  ])('allows the frozen or local value in %j', (source) => {
    expect(sharedState('src/good.ts', source)).toEqual([])
  })

  it('reports a file of 701 lines and a name in camelCase, and allows 700', () => {
    expect(untidyFile('src/long.ts', 'x\n'.repeat(701))).toHaveLength(1)
    expect(untidyFile('src/long.ts', 'x\n'.repeat(700))).toEqual([])
    expect(untidyFile('src/createAuth.ts', '')).toHaveLength(1)
  })

  it('reports a file of 39 lines with one importer, and allows 40 lines or two importers', () => {
    const importer = "import { x } from './small.js'\nexport const y = x\n"
    const found = (lines: number, ...importers: readonly string[]) => {
      const tree = importers.map((path) => [path, importer] as const)
      return smallFiles(new Map([['src/engine/small.ts', '//\n'.repeat(lines)], ...tree]))
    }
    const [a, b] = ['src/engine/a.ts', 'src/engine/b.ts']
    expect(found(39, a)).toEqual(['src/engine/small.ts: 39 lines, for src/engine/a.ts alone'])
    expect([...found(40, a), ...found(39, a, b), ...found(39)]).toEqual([])
  })
})
