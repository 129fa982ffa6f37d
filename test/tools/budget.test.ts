import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Budget,
  codeLines,
  figuresOf,
  judge,
  judgeCpu,
  lowered,
  withBegun,
} from '../../tools/budget.js'

const shipped = 'lines of src and adapters'

const empty: Budget = {
  limits: {},
  cpu: null,
  allowances: { sessions: { lines: 10, cpuSeconds: 30, words: 5, names: 1 } },
  begun: [],
  goals: { [shipped]: 12 },
}

/** A tree with a file in each area, whose limits are what it has. */
function plantedTree() {
  const root = `${mkdtempSync(join(tmpdir(), 'postern-budget-'))}/`
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const write = (path: string, text: string): void => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  write('src/engine/a.ts', 'export const a = 1\n')
  write('src/client/b.ts', '// why\nexport const b = 1\n\n')
  write('adapters/c.ts', 'export const c = 1\n')
  write('test/engine/a.test.ts', 'it()\n')
  write('test/engine/shared.ts', 'export {}\n')
  write('test/reliability/c.test.ts', 'it()\n')
  write('test/support/d.ts', 'export {}\n')
  write('tools/e.ts', 'main()\n')
  write('docs/written.md', 'three words here\n')
  write('docs/reference.md', 'made by a tool\n')
  write('test/package/api/postern.txt', 'const a: 1;\n\ntype B = {\n    c: 1;\n};\n')
  write('package.json', '{ "scripts": { "test": "true" } }')
  const repository = fileURLToPath(new URL('../../', import.meta.url))
  for (const page of ['README.md', 'CONTRIBUTING.md'])
    cpSync(`${repository}${page}`, `${root}${page}`)
  return { root, write, budget: lowered(empty, figuresOf(root), null) }
}

const over = (budget: Budget, root: string): readonly string[] =>
  judge(budget, figuresOf(root)).flatMap(({ area, state }) => (state === 'over' ? [area] : []))

/** `@` stands for the sign of a value. */
const inTemplates = 'const a = `b @{{ c: `// @{d}` }} e\n// f\n`\n// g\n'.replaceAll('@', '$')

describe('the lines of a source', () => {
  it('are those with a token on them, in templates and behind patterns too', () => {
    expect(codeLines('')).toBe(0)
    expect(codeLines('// a\n\n/* b\n c */\n/** d */\n')).toBe(0)
    expect(codeLines('a() // b\n\n/* c */ d()\n')).toBe(2)
    expect(codeLines(inTemplates)).toBe(3)
    expect(codeLines("const a = /['`]/.test(b)\n// c\nconst d = (1) / 2 / 3\n")).toBe(2)
  })
})

describe('the budget', () => {
  it('counts each file to its area, and only the pages that people write', () => {
    const { root } = plantedTree()
    expect(figuresOf(root)).toMatchObject({
      'lines of core': 1,
      'lines of other src': 1,
      'lines of adapters': 1,
      'lines of fast tests': 2,
      'lines of other tests': 1,
      'lines of tools': 2,
      [shipped]: 3,
      'files of src and adapters': 3,
      'names of the main entry': 2,
      'words of hand-written docs': 3,
      'npm scripts': 1,
    })
  })

  it('is kept by the tree that it was written for', () => {
    const { root, budget } = plantedTree()
    expect(over(budget, root)).toEqual([])
  })

  const excesses: readonly [string, string, string, readonly string[]][] = [
    ['a line of the core', 'src/engine/a.ts', 'a()\nb()\n', ['lines of core', shipped]],
    ['a line of a tool', 'tools/e.ts', 'main()\nagain()\n', ['lines of tools']],
    ['a fast test', 'test/engine/b.test.ts', 'it()\n', ['lines of fast tests']],
    ['a script', 'package.json', '{ "scripts": { "a": "", "b": "" } }', ['npm scripts']],
    ['a word', 'docs/written.md', 'four words are here', ['words of hand-written docs']],
    [
      'a public name',
      'test/package/api/postern.txt',
      'const a: 1;\n\nconst b: 1;\n\nconst c: 1;\n',
      ['names of the main entry'],
    ],
  ]

  it.each(excesses)('is broken by %s too many', (_, path, text, areas) => {
    const { root, write, budget } = plantedTree()
    write(path, text)
    expect([...over(budget, root)].sort()).toEqual([...areas].sort())
  })

  it('lets an order that was begun add its allowance, up to the goal', () => {
    const { root, write, budget } = plantedTree()
    const begun = withBegun(budget, 'sessions', figuresOf(root), null)
    write('src/engine/a.ts', 'a()\n'.repeat(10))
    expect(over(budget, root)).not.toEqual([])
    expect(over(begun, root)).toEqual([])
    write('src/engine/a.ts', 'a()\n'.repeat(11))
    // 13 lines in all: the allowance has them, and the goal does not.
    expect(over(begun, root)).toEqual([shipped])
    write('tools/e.ts', 'main()\nagain()\n')
    expect(over(begun, root)).toContain('lines of tools')
  })

  it('refuses an order that has no allowance, and one that was begun before', () => {
    expect(() => withBegun(empty, 'session', {}, null)).toThrow(
      'no order session; there are sessio',
    )
    const begun = withBegun(empty, 'sessions', {}, null)
    expect(() => withBegun(begun, 'sessions', {}, null)).toThrow('sessions was begun before')
  })

  it('is lowered to what there is, and never raised', () => {
    const { limits } = lowered({ ...empty, limits: { a: 5, b: 5 } }, { a: 4, b: 6, c: 7 }, null)
    expect(limits).toEqual({ a: 4, b: 5, c: 7 })
  })
})

describe('the CPU time of the fast shelf', () => {
  const recorded = { ...empty, cpu: { ratio: 100, calibrationSeconds: 2 } }
  const states = (budget: Budget, ...ratios: readonly number[]) =>
    ratios.map((ratio) => judgeCpu(budget, ratio).state)

  it('warns a fifth above what was recorded, and is over the half above', () => {
    expect(states(recorded, 100, 120, 121, 150, 151)).toEqual(['ok', 'ok', 'warn', 'warn', 'over'])
    expect(states(empty, 1000)).toEqual(['ok'])
  })

  it('may grow by the seconds of an order, as this machine counts them', () => {
    const cpu = { ratio: 110, calibrationSeconds: 3 }
    const begun = withBegun(recorded, 'sessions', {}, cpu)
    expect(states(begun, 150, 151, 187, 188)).toEqual(['ok', 'warn', 'warn', 'over'])
  })

  it('is recorded with the limits, and lowered alone', () => {
    const faster = { ratio: 90, calibrationSeconds: 1 }
    expect(lowered(recorded, {}, faster).cpu).toEqual(faster)
    expect(lowered(recorded, {}, { ratio: 110, calibrationSeconds: 1 }).cpu).toEqual(recorded.cpu)
  })
})

it('every order of budget.json has an allowance, and none goes beyond the goals of the release', () => {
  const budget: Budget = JSON.parse(
    readFileSync(new URL('../../budget.json', import.meta.url), 'utf8'),
  )
  expect(Object.keys(budget.allowances)).toHaveLength(5)
  for (const { order } of budget.begun) expect(Object.keys(budget.allowances)).toContain(order)
  expect(budget.goals[shipped]).toBe(60_000)
})
