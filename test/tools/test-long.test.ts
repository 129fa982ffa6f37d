import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { longRuns } from '../../tools/test-long.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const testLong = (...args: readonly string[]) =>
  spawnSync(
    process.execPath,
    ['--import', './test/support/module-hooks.mjs', 'tools/test-long.ts', ...args],
    { cwd: root, encoding: 'utf8' },
  )

describe('npm run test:long', () => {
  it.each(Object.entries(longRuns))('%s runs a file that there is', (_, { command, ...run }) => {
    const files = [...command, ...('usual' in run ? run.usual : [])].filter((word) =>
      /^(tools|test)\//.test(word),
    )
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) expect(existsSync(`${root}${file}`)).toBe(true)
  })

  it('lists each run with what it shows and how long it takes', () => {
    const { stdout, status } = testLong('--list')
    expect(status).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(Object.keys(longRuns).length)
    expect(stdout).toMatch(/^fuzz +a million inputs for each parser \(an hour\)$/m)
  })

  it('hands on what follows the name, and ends as the run does', () => {
    const listed = testLong('mutation', '--list')
    expect(listed.stdout).toMatch(/^engine-q of src\/engine: /m)
    expect(listed.status).toBe(0)
    const unknown = testLong('mutation', '--piece', 'no-such-piece')
    expect(unknown.stderr).toContain('There is no piece no-such-piece')
    expect(unknown.status).toBe(1)
  })

  it('refuses a name that it does not know', () => {
    const { stderr, status } = testLong('fuz')
    expect(stderr).toContain('no run fuz; there are models, tabs, ')
    expect(status).not.toBe(0)
  })
})
