import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { assurancePage, keepRun, type StepRun, storedRecords } from '../../tools/release/records.js'
import { releaseSteps } from '../../tools/release/release-steps.js'

const machine = {
  ...{ cpu: 'A | B', cores: 2, memoryGiB: 8, system: 'Linux 6.1', loadAtStart: 0, node: '24.1.0' },
}

const passed: StepRun = {
  step: { name: 'planted' },
  code: 0,
  seconds: 3570,
  date: '2030-04-05T06:07:08.000Z',
  lines: ['trying 240', '240 of 240 mistakes were caught', ''],
  commits: { before: 'abc1234', after: 'abc1234' },
  machine,
}

const record = {
  step: 'planted',
  date: '2030-04-05T06:07:08.000Z',
  commit: 'abc1234',
  seconds: 3570,
  machine,
  figures: ['240 of 240 mistakes were caught'],
}

function emptyFolder(): URL {
  const path = mkdtempSync(join(tmpdir(), 'postern-records-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return new URL('results/', `${pathToFileURL(path)}/`)
}

describe('what a step found', () => {
  it('is kept with its commit, day, machine and seconds, until the step passes again', () => {
    const folder = emptyFolder()
    expect(storedRecords(folder)).toEqual([])
    expect(keepRun(passed, folder)).toBe('recorded')
    expect(storedRecords(folder)).toEqual([record])
    const commits = { before: 'def5678', after: 'def5678' }
    expect(keepRun({ ...passed, commits, seconds: 9 }, folder)).toBe('recorded')
    expect(storedRecords(folder)).toEqual([{ ...record, commit: 'def5678', seconds: 9 }])
  })

  const others: readonly [string, Partial<StepRun>, string][] = [
    ['a step that failed', { code: 1 }, 'it failed'],
    ['a step that a signal ended', { code: null }, 'it failed'],
    [
      'files that differ from the commit',
      { commits: { before: 'abc1234+', after: 'abc1234+' } },
      'files differ from the commit',
    ],
    [
      'files that were changed meanwhile',
      { commits: { before: 'abc1234', after: 'abc1234+' } },
      'files or the commit changed meanwhile',
    ],
    [
      'a commit that was made meanwhile',
      { commits: { before: 'abc1234', after: 'def5678' } },
      'files or the commit changed meanwhile',
    ],
    [
      'a folder without history',
      { commits: { before: 'not in a repository', after: 'not in a repository' } },
      'not in a repository',
    ],
    ['a step that said nothing', { lines: [''] }, 'it printed nothing'],
  ]

  it.each(others)('leaves the older record: %s', (_, change, reason) => {
    const folder = emptyFolder()
    keepRun(passed, folder)
    const later = { ...passed, seconds: 1, date: '2031-01-01T00:00:00.000Z', ...change }
    expect(keepRun(later, folder)).toBe(`not recorded: ${reason}`)
    expect(storedRecords(folder)).toEqual([record])
    const empty = emptyFolder()
    keepRun(later, empty)
    expect(storedRecords(empty)).toEqual([])
  })
})

describe('the page of the long runs', () => {
  const steps = [
    { name: 'planted', shows: 'every planted mistake is noticed', page: null },
    { name: 'bench', shows: 'figures beside the peers', page: 'performance.md' },
  ]
  const rowsOf = (page: string) => page.split('\n').filter((line) => line.startsWith('| `'))

  it('has a row for each step, also for one that never ran', () => {
    expect(rowsOf(assurancePage([record], steps))).toEqual([
      '| `planted` | every planted mistake is noticed | 240 of 240 mistakes were caught | `abc1234` | 2030-04-05 | 2 cores (A \\| B), 8 GiB, Linux 6.1, Node 24.1.0 | 60 |',
      '| `bench` | figures beside the peers | not run yet | – | – | – | – |',
    ])
  })

  it('leads to the page that has more, and does not round a short run to nothing', () => {
    const bench = { ...record, step: 'bench', seconds: 20, figures: ['13 suites', 'met'] }
    const [, row = ''] = rowsOf(assurancePage([bench], steps))
    expect(row).toContain('| 13 suites; met; [all figures](performance.md) |')
    expect(row).toMatch(/\| less than 1 \|$/)
  })

  it('is what the records say: npm run generate -- assurance writes it', () => {
    const records = storedRecords()
    const page = readFileSync(new URL('../../docs/assurance.md', import.meta.url), 'utf8')
    expect(page).toBe(assurancePage(records, releaseSteps))
    const names = releaseSteps.map(({ name }) => name)
    expect(records.filter(({ step }) => !names.includes(step))).toEqual([])
  })
})
