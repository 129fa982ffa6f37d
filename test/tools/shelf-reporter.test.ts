import { describe, expect, it } from 'vitest'
import { type RunModule, summaryOf } from '../../tools/shelf-reporter.js'

const ran = (name: string, duration: number, ...states: readonly string[]): RunModule => ({
  moduleId: `/repo/test/${name}.test.ts`,
  project: { config: { root: '/repo' } },
  children: {
    allTests: () => states.map((state) => ({ fullName: 'a > test', result: () => ({ state }) })),
  },
  state: () => (states.includes('failed') || states.length === 0 ? 'failed' : 'passed'),
  diagnostic: () => ({ duration }),
})

describe('the end of the test run', () => {
  it('counts tests, files that could not be loaded and errors, alone on its last line', () => {
    const modules = [ran('a', 1, 'passed', 'skipped', 'failed'), ran('b', 1), ran('c', 1, 'passed')]
    const lines = summaryOf(modules, 1).split('\n')
    expect(lines.slice(-3)).toEqual(['', '2 passed, 3 failed, 1 skipped', ''])
  })

  it('names the ten slowest files before that, slowest first', () => {
    const modules = Array.from({ length: 12 }, (_, n) => ran(`file-${n}`, n * 1100, 'passed'))
    const lines = summaryOf(modules, 0).split('\n')
    expect(lines.slice(0, 4)).toEqual([
      '',
      'slowest files:',
      '   12.1 s  test/file-11.test.ts',
      '   11.0 s  test/file-10.test.ts',
    ])
    expect(lines.filter((line) => line.includes(' s  '))).toHaveLength(10)
    expect(lines).not.toContain('    1.1 s  test/file-1.test.ts')
  })
})
