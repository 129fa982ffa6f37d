import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { StepRun } from '../../tools/release/records.js'
import { chosenSteps, releaseSteps } from '../../tools/release/release-steps.js'
import { tee } from '../../tools/release/tee.js'
import { runSteps } from '../../tools/release-check.js'
import { longRuns } from '../../tools/test-long.js'

const { scripts } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { scripts: Record<string, string> }

const machine = {
  ...{ cpu: 'A CPU', cores: 2, memoryGiB: 8, system: 'Linux 6.1', loadAtStart: 0, node: '24.1.0' },
}

describe('the check before a release', () => {
  it.each(releaseSteps)('$name calls scripts, long runs and tools that there are', (step) => {
    const words = step.commands.map((command) => command.join(' '))
    for (const command of words) {
      const [, script = 'test'] = /^npm run --silent (\S+)/.exec(command) ?? []
      expect(Object.keys(scripts)).toContain(script)
      const [, run = 'fuzz'] = /test:long -- (\S+)/.exec(command) ?? []
      expect(Object.keys(longRuns)).toContain(run)
      const [, tool = 'tools/test-long.ts'] = / (tools\/\S+)/.exec(command) ?? []
      expect(existsSync(new URL(`../../${tool}`, import.meta.url))).toBe(true)
    }
  })

  it('runs all steps without names, and the named ones in its own order', () => {
    expect(chosenSteps([])).toEqual(releaseSteps)
    expect(chosenSteps(['sbom', 'audit']).map(({ name }) => name)).toEqual(['audit', 'sbom'])
  })

  it('refuses a name that is no step, and names those there are', () => {
    expect(() => chosenSteps(['audit', 'adit'])).toThrow(/^no step adit; there are audit, sbom, /)
  })

  it('goes on after a failure, hands on each run as it ends, and says how each ended', async () => {
    const clock = [0, 1_000, 1_000, 3_600, 3_600, 3_600]
    const codes = [0, 1, null]
    const kept: StepRun[] = []
    const commits = { before: 'abc1234', after: 'abc1234' }
    const ends = await runSteps(
      chosenSteps(['audit', 'sbom', 'model']),
      async ({ name }) => {
        const code = codes.shift() ?? null
        return { code, lines: [name], date: '2030-04-05T06:07:08.000Z', commits, machine }
      },
      (run) => `${kept.push(run)} kept`,
      () => clock.shift() ?? 0,
    )
    expect(ends).toEqual([
      { name: 'audit', code: 0, seconds: 1, note: '1 kept' },
      { name: 'sbom', code: 1, seconds: 3, note: '2 kept' },
      { name: 'model', code: null, seconds: 0, note: '3 kept' },
    ])
    expect(kept.map(({ step, code, seconds, lines }) => [step.name, code, seconds, lines])).toEqual(
      [
        ['audit', 0, 1, ['audit']],
        ['sbom', 1, 3, ['sbom']],
        ['model', null, 0, ['model']],
      ],
    )
  })
})

describe('a program whose lines are kept', () => {
  const run = (script: string, show: (text: string) => void) =>
    tee(
      [process.execPath, '-e', script],
      { cwd: fileURLToPath(new URL('.', import.meta.url)) },
      show,
    )

  it('shows each as it comes, colours and all, and keeps them plain', async () => {
    const shown: string[] = []
    const script = `
      process.stdout.write('\\u001b[32mone\\u001b[39m\\ntw')
      setTimeout(() => { console.log('o'); process.exitCode = 3 }, 300)`
    expect(await run(script, (text) => shown.push(text))).toEqual({
      code: 3,
      lines: ['one', 'two', ''],
    })
    expect(shown.length).toBeGreaterThan(1)
    expect(shown.join('')).toBe('\u001b[32mone\u001b[39m\ntwo\n')
  })

  it('has no code after a signal', async () => {
    const { code } = await run(`process.kill(process.pid, 'SIGKILL')`, () => {})
    expect(code).toBeNull()
  })
})
