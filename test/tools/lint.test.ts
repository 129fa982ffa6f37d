import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { brokenRules } from '../../tools/check-sources.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const configurations = ['.dependency-cruiser.cjs', 'tsconfig.json', 'biome.json', 'package.json']

type Tree = Readonly<Record<string, string>>

let dir = ''

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'postern-lint-'))
  for (const file of configurations) copyFileSync(join(root, file), join(dir, file))
})

afterEach(() => rmSync(dir, { recursive: true }))

function plant(tree: Tree): void {
  for (const [path, source] of Object.entries(tree)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), source)
  }
}

/** What a tool of `npm run lint` says of the planted tree, and how it ends. */
function run(tool: string, ...args: string[]): { readonly code: number; readonly says: string } {
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin', tool), args, {
    cwd: dir,
    encoding: 'utf8',
  })
  return { code: status ?? -1, says: stdout + stderr }
}

const cruise = () => run('depcruise', 'src', '--config', '.dependency-cruiser.cjs')

const clean: Tree = {
  'src/domain/context/actor.ts': `export interface Actor {\n  readonly id: string\n}\n${'// a line\n'.repeat(40)}`,
  'src/domain/login/login.ts':
    "import type { Actor } from '../context/actor.js'\n\nexport const idOf = (actor: Actor) => actor.id\n",
}

describe('npm run lint', () => {
  it('lets a clean tree pass', () => {
    plant(clean)
    expect(cruise()).toMatchObject({ code: 0 })
    expect(run('biome', 'lint', 'src')).toMatchObject({ code: 0 })
    expect(brokenRules(dir)).toEqual([])
  })

  it.each<[name: string, rule: string, tree: Tree]>([
    [
      'two files that name each other, by types alone',
      'no-circular',
      {
        'src/domain/login/a.ts': "import type { B } from './b.js'\nexport interface A { b: B }\n",
        'src/domain/login/b.ts':
          "import type { A } from './a.js'\nexport interface B { a: A | null }\n",
      },
    ],
    [
      'two folders that import each other through different files',
      'no-folder-cycle',
      {
        'src/domain/context/a.ts': "import type { C } from '../login/c.js'\nexport type A = C\n",
        'src/domain/login/b.ts':
          "import type { Actor } from '../context/actor.js'\nexport type B = Actor\n",
        'src/domain/login/c.ts': 'export type C = string\n',
      },
    ],
    [
      'a room that imports one above it',
      'domain-rooms-in-order',
      {
        'src/domain/context/low.ts':
          "import type { High } from '../sweep/high.js'\nexport type Low = High\n",
        'src/domain/sweep/high.ts': 'export type High = string\n',
      },
    ],
    [
      'a room without a place in the order',
      'domain-room-has-a-place',
      {
        'src/domain/misc/new.ts':
          "import type { Actor } from '../context/actor.js'\nexport type New = Actor\n",
      },
    ],
    [
      'a file of the domain outside its rooms',
      'domain-room-has-a-place',
      {
        'src/domain/new.ts':
          "import type { Actor } from './context/actor.js'\nexport type New = Actor\n",
      },
    ],
  ])('refuses %s', (_name, rule, tree) => {
    plant({ ...clean, ...tree })
    const { code, says } = cruise()
    expect(says).toContain(rule)
    expect(code).not.toBe(0)
  })

  it('refuses a folder and one inside it that import each other', () => {
    plant({
      'src/engine/a.ts': "import { c } from './rules/c.js'\nexport const a = c\n",
      'src/engine/b.ts': 'export const b = 1\n',
      'src/engine/rules/c.ts': "import { b } from '../b.js'\nexport const c = b\n",
    })
    expect(brokenRules(dir).slice(0, 2)).toEqual([
      'src/engine: is part of a cycle of folders',
      'src/engine/rules: is part of a cycle of folders',
    ])
  })

  it('refuses a fifth parameter', () => {
    const source = (names: string) => `export const f = (${names}) => [a, b, c, d]\n`
    const four = 'a: number, b: number, c: number, d: number'
    plant({ 'src/engine/four.ts': source(four) })
    expect(run('biome', 'lint', 'src')).toMatchObject({ code: 0 })
    plant({ 'src/engine/five.ts': source(`${four}, _e: number`) })
    const { code, says } = run('biome', 'lint', 'src')
    expect(says).toContain('useMaxParams')
    expect(code).not.toBe(0)
  })

  it('refuses a style sheet of the demo that lacks a brace', () => {
    const path = 'examples/console/pages/console.css'
    const sound = readFileSync(join(root, path), 'utf8')
    plant({ [path]: sound })
    expect(run('biome', 'lint', 'examples')).toMatchObject({ code: 0 })
    const broken = sound.replace(/(dl\.small \{\n {2}grid-template-columns: auto[^}]*)\}/, '$1')
    plant({ [path]: broken })
    const { code, says } = run('biome', 'lint', 'examples')
    expect(says).toContain('console.css')
    expect(code).not.toBe(0)
  })

  it('refuses an internal id in the sources and in a page', () => {
    plant({
      'src/engine/a.ts': '/** As R-3A-17 and T-62 ask. */\nexport const a = 1\n',
      'src/engine/b.ts': '/** RFC 6749 §4.1.2, ASVS 6.1.2, SHA-256. */\nexport const b = 1\n',
      'docs/page.md': '# Page\n\nSee seed 4.3.\n',
      'docs/reliability.md': 'R-3A-17\n',
    })
    expect(brokenRules(dir)).toEqual([
      'src/engine/a.ts:1: names the internal id R-3A-17; give the reason itself',
      'src/engine/a.ts:1: names the internal id T-62; give the reason itself',
      'docs/page.md:3: names the internal id seed 4.3; give the reason itself',
    ])
  })

  it('refuses a function of 61 lines, without the lines of the functions inside it', () => {
    const lines = (count: number) => '  f(1)\n'.repeat(count)
    const inner = `  const g = () => {\n${lines(30)}  }\n  g()\n`
    const outer = (name: string, count: number) =>
      `export function ${name}(f: (n: number) => void) {\n${inner}${lines(count)}}\n`
    plant({ 'src/engine/long.ts': `${outer('short', 57)}${outer('long', 58)}` })
    expect(brokenRules(dir)).toEqual([
      'src/engine/long.ts:93: a function of 61 lines, more than 60',
    ])
  })

  it('refuses a file of 701 lines', () => {
    plant({ 'src/engine/long.ts': '// a line\n'.repeat(701) })
    expect(brokenRules(dir)).toEqual(['src/engine/long.ts: 701 lines, more than 700'])
  })

  it('is made of the tools that these tests run', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(scripts.lint).toContain('biome ci .')
    expect(scripts.lint).toContain('depcruise src adapters examples')
    expect(scripts.lint).toContain('tools/check-sources.ts')
  })
})
