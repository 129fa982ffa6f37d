import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { readCommandLine } from '../../bench/harness/command-line.js'
import { pageOf, sectionOf } from '../../bench/harness/page.js'
import { reasons } from '../../bench/harness/reasons.js'
import { type StoredResult, storedResults, storeResult } from '../../bench/harness/stored-result.js'
import { textTable } from '../../bench/harness/text-table.js'

const guard = { name: 'guard', title: 'Protected routes' }
const login = { name: 'login', title: 'Logins' }

const stored: StoredResult = {
  suite: 'guard',
  title: 'Protected routes',
  date: '2030-04-05T06:07:08.000Z',
  commit: 'abc1234',
  rounds: 5,
  machine: {
    cpu: 'A CPU',
    cores: 2,
    memoryGiB: 8,
    system: 'Linux 6.1',
    loadAtStart: 0.2,
    node: '24.1.0',
    postgres: '15.1 (fsync on, shared_buffers 128MB)',
    redis: null,
  },
  otherNode: false,
  result: {
    tables: [{ head: ['route', 'CPU'], rows: [['a | b', '1 / 2 / 3']], note: 'Read me.' }],
    figures: [
      { goal: 'P1', what: 'added CPU', values: [0.3, 0.4, 0.5], atMost: 0.45 },
      { goal: 'P2', what: 'CPU to no check', values: [2], atMost: 1 },
      { what: 'requests a second', values: [10, 20, 30] },
    ],
  },
}

it('each section names the commit, day and machine of its own run', () => {
  const later = { ...stored, suite: 'login', title: 'Logins', commit: 'def5678' }
  const page = pageOf([later, stored], [guard, login])
  expect(page.indexOf('## Protected routes')).toBeLessThan(page.indexOf('## Logins'))
  expect(page).toContain(
    'Commit `abc1234`, 2030-04-05, 5 rounds, Node 24.1.0. 2 cores (A CPU), 8 GiB',
  )
  expect(page).toContain('Postgres 15.1 (fsync on, shared_buffers 128MB), no Redis, load 0.2')
  expect(page).toContain('Commit `def5678`')
  expect(page).toContain('| a \\| b | 1 / 2 / 3 |')
  expect(page).toContain('\nRead me.\n')
})

it('a missed goal stays in the table, and so does one that was not measured', () => {
  const page = pageOf([stored], [guard])
  expect(page).toContain('| added CPU | ≤ 0.45 | 0.300 / 0.400 / 0.500 | met |')
  expect(page).toContain('| CPU to no check | ≤ 1 | 2.00 | **missed**: 100 % over |')
  expect(page).toContain('| logins | all of it |  | - | **not measured** |')
  expect(page).toContain('| requests a second |  | 10.0 / 20.0 / 30.0 | reported |')
})

it('missed figures say why under the table, those of one cause together, and met ones do not', () => {
  const figures = [
    { goal: 'P1', what: 'met', values: [1], atMost: 1, why: 'construction' },
    { goal: 'P2', what: 'CPU', values: [2], atMost: 1, why: 'new tokens' },
    { what: 'rate', values: [2], atMost: 1, why: 'new tokens' },
    { goal: 'P6', what: 'time', values: [2], atMost: 1 },
  ] as const
  const page = pageOf([{ ...stored, result: { tables: [], figures } }], [guard])
  const both = '- **a protected Express or Koa route, CPU; rate.** '
  expect(page).toContain(
    `Why goals are missed:\n\n${both}${reasons['new tokens']}\n- **logins, time.** Not explained yet.\n- **Node 20, 22 and 24, `,
  )
  expect(page).not.toContain(reasons.construction)
  expect(pageOf([], [guard])).not.toContain('Why goals')
})

it('runs on another Node have a table of their own, and change no goal', () => {
  const older = { ...stored, otherNode: true, machine: { ...stored.machine, node: '20.19.0' } }
  const page = pageOf([older], [guard])
  expect(page).toContain('| a protected Fastify route | all of it |  | - | **not measured** |')
  expect(page).toContain('| 20.19.0 | guard | added CPU | ≤ 0.45 |')
})

it('protected routes, new tokens and refresh hold on a version of Node, or some were not measured', () => {
  const on = (suite: string, goal: string, atMost: number): StoredResult => ({
    ...stored,
    suite,
    result: { tables: [], figures: [{ goal, what: 'CPU', values: [1], atMost }] },
  })
  const all = [on('guard', 'P1', 1), on('verify', 'P3', 0.5), on('refresh', 'P8', 1)]
  const order = ['guard', 'verify', 'refresh'].map((name) => ({ name, title: name }))
  const line = (results: readonly StoredResult[]) =>
    pageOf(results, order)
      .split('\n')
      .find((text) => text.includes('Node 24: missed figures'))
  expect(line(all)).toContain('| ≤ 0 | 1.00 | **missed**')
  expect(line([...all.slice(0, 1), on('verify', 'P3', 1), ...all.slice(2)])).toContain('| met |')
  expect(line(all.slice(1))).toContain('**missed**: not measured')
})

it('the page names no goal by its id', () => {
  expect(pageOf([stored], [guard])).not.toMatch(/\bP\d/)
})

it('the results of a suite that is gone are left out', () => {
  expect(pageOf([stored], [login])).not.toContain('Protected routes')
})

it('a suite that never ran says so in its own section', () => {
  const page = pageOf([stored], [guard, login])
  expect(page).toContain('## Logins\n\nThis suite never ran.\n')
  expect(page).not.toContain('## Protected routes\n\nThis suite never ran.')
})

it('a stored result is read back as it was, and one of another Node is kept beside it', () => {
  const path = mkdtempSync(join(tmpdir(), 'bench-results-'))
  const folder = pathToFileURL(`${path}/`)
  const older = { ...stored, otherNode: true, machine: { ...stored.machine, node: '20.19.0' } }
  try {
    expect(storedResults(folder)).toEqual([])
    storeResult(folder, { ...stored, rounds: 1 })
    storeResult(folder, stored)
    storeResult(folder, older)
    expect(storedResults(folder)).toEqual([stored, older])
  } finally {
    rmSync(path, { recursive: true })
  }
})

it('the page says what the committed results say', () => {
  const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')
  const committed = storedResults(new URL('../../bench/results/', import.meta.url))
  for (const result of committed.filter(({ otherNode }) => !otherNode)) {
    expect(page).toContain(sectionOf(result))
  }
})

it('columns of a table on the terminal are as wide as their widest cell', () => {
  expect(
    textTable(
      ['a', 'b'],
      [
        ['long', '1'],
        ['x', '100'],
      ],
    ),
  ).toBe('a       b\n----  ---\nlong    1\nx     100')
})

it('the command line takes names and options, and refuses what it does not know', () => {
  const read = (...words: string[]) => readCommandLine(words, ['guard', 'login'], '/usr/bin/node')
  expect(read()).toEqual({
    names: [],
    check: false,
    list: false,
    smoke: false,
    rounds: 5,
    node: '/usr/bin/node',
    nodes: false,
    page: false,
    writes: true,
  })
  expect(read('--nodes', '--check')).toMatchObject({ names: [], check: true, nodes: true })
  for (const more of [['guard'], ['--smoke'], ['--node', '/opt/node']]) {
    expect(() => read('--nodes', ...more)).toThrow('--nodes chooses suites and Nodes itself')
  }
  expect(read('guard', '--check', '--rounds', '7', '--node', '/opt/node')).toMatchObject({
    names: ['guard'],
    check: true,
    rounds: 7,
    node: '/opt/node',
  })
  expect(read('--smoke')).toMatchObject({ rounds: 1, writes: false })
  expect(read('guard', '--dry')).toMatchObject({ names: ['guard'], writes: false })
  expect(read('--page').page).toBe(true)
  expect(() => read('--page', 'guard')).toThrow('--page runs nothing')
  expect(() => read('gaurd')).toThrow('no such suite: gaurd (there are: guard, login)')
  expect(() => read('--rounds', 'many')).toThrow('--rounds takes a whole number')
  expect(() => read('--smoke', '--check')).toThrow('--smoke measures nothing')
  expect(() => read('--fast')).toThrow('--fast')
})
