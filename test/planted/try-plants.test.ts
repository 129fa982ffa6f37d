import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Plant } from './plant.js'
import { runTests, tryPlants } from './try-plants.js'

const source = `export const limit = 3
export const isFull = (count: number) => count >= limit
`

const test = `import { expect, it, vi } from 'vitest'
import { isFull } from '../../src/full.js'

it('is full at three', () => {
  if (isFull(-1)) throw new Error('never')
  expect([2, 3].map(isFull)).toEqual([false, true])
})

it('refuses more', async () => {
  const add = async () => {
    if (isFull(4)) throw new Error('full')
  }
  await expect(add()).rejects.toThrow('full')
})
`

/** Of the fast shelf, and of none. */
const [fast, slow] = ['test/domain/full.test.ts', 'test/examples/full.test.ts'] as const

const tree: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  'src/full.ts': source,
  [fast]: test,
  [slow]: test.replace('is full at three', 'is red').replace('[false, true]', '[true, true]'),
  'test/domain/red.test.ts': test.replace('[false, true]', '[true, true]'),
  'test/endless.test.ts':
    "import { it } from 'vitest'\nit('waits', () => new Promise(() => {}), 60_000)\n",
  'test/planted/vitest.config.ts': "export default { test: { reporters: ['json'] } }\n",
}

let root = ''
let copies = ''

beforeEach(() => {
  copies = mkdtempSync(join(tmpdir(), 'postern-copies-'))
  root = mkdtempSync(join(tmpdir(), 'postern-plants-of-'))
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
  symlinkSync(modules, join(root, 'node_modules'))
  // Other runs on this machine make their copies elsewhere.
  vi.stubEnv('TMPDIR', copies)
})

afterEach(() => {
  vi.unstubAllEnvs()
  for (const dir of [root, copies]) rmSync(dir, { recursive: true })
})

const plant = (name: string, find: string, replace: string): Plant => ({
  name,
  edits: [{ file: 'src/full.ts', find, replace }],
  tests: [fast],
})

describe('trying planted mistakes', () => {
  it('tells one that an assertion finds from one that none finds', async () => {
    const verdicts = await tryPlants(root, [
      plant('one too many', 'count >= limit', 'count > limit'),
      plant('nothing to see', 'limit = 3', 'limit = 1 + 2'),
      plant('an exception of its own', 'count >= limit', 'true'),
      plant('no module at all', 'export const isFull', 'const isFull'),
      plant('one too many, after others', 'count >= limit', 'count > limit'),
      plant('none too many', 'count >= limit', 'count === limit'),
    ])
    expect(verdicts.map(({ problem, evidence }) => problem ?? evidence)).toEqual([
      'is full at three',
      'not caught',
      'fails, but by no assertion',
      'fails, but by no assertion',
      'is full at three',
      'refuses more',
    ])
  })

  it('runs the tests of one shelf alone, and counts as missed what none of them is about', async () => {
    const verdicts = await tryPlants(
      root,
      [
        { ...plant('seen on both', 'limit = 3', 'limit = 4'), tests: [fast, slow] },
        { ...plant('seen on another', 'limit = 3', 'limit = 4'), tests: [slow] },
      ],
      'fast',
    )
    expect(verdicts.map(({ problem }) => problem)).toEqual([null, 'no test of the shelf'])
  })

  it('leaves the tree as it is, and no copy of it', async () => {
    await tryPlants(root, [plant('one too many', 'count >= limit', 'count > limit')])
    expect(readFileSync(join(root, 'src/full.ts'), 'utf8')).toBe(source)
    expect(readdirSync(copies).filter((name) => name.startsWith('postern-'))).toEqual([])
  })

  it('refuses tests that fail by themselves, and an anchor that does not stand there once', async () => {
    const red: Plant = {
      ...plant('red', 'limit = 3', 'limit = 4'),
      tests: ['test/domain/red.test.ts'],
    }
    await expect(tryPlants(root, [red])).rejects.toThrow(
      'fails without any plant: is full at three',
    )
    const twice = plant('twice', 'limit', 'most')
    await expect(tryPlants(root, [twice])).rejects.toThrow('src/full.ts holds this 2 times')
  })

  it('ends a run that takes too long, with the processes that it started', async () => {
    const run = await runTests(root, ['test/endless.test.ts'], { shelf: 'all', limitMs: 4_000 })
    expect(run).toMatchObject({
      passed: 0,
      refuted: [],
      broken: [expect.stringContaining('no result')],
    })
    const left = () => readdirSync('/proc').filter((pid) => cwdOf(pid) === root)
    await expect.poll(left).toEqual([])
  })
})

function cwdOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}
