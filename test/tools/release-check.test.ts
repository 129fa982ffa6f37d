import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { chosenSteps, releaseSteps, runSteps } from '../../tools/release-check.js'

const { scripts } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { scripts: Record<string, string> }

describe('the check before a release', () => {
  it.each(releaseSteps.map(({ name, script }) => [name, script]))(
    '%s is a script: %s',
    (_, script) => {
      expect(Object.keys(scripts)).toContain(script)
    },
  )

  it('runs all steps without names, and the named ones in its own order', () => {
    expect(chosenSteps([])).toEqual(releaseSteps)
    expect(chosenSteps(['sbom', 'audit']).map(({ name }) => name)).toEqual(['audit', 'sbom'])
  })

  it('refuses a name that is no step, and names those there are', () => {
    expect(() => chosenSteps(['audit', 'adit'])).toThrow(/^no step adit; there are audit, sbom, /)
  })

  it('goes on after a failure, and says how each step ended', () => {
    const clock = [0, 1_000, 1_000, 3_600, 3_600, 3_600]
    const codes = [0, 1, null]
    const ends = runSteps(
      chosenSteps(['audit', 'sbom', 'model']),
      () => codes.shift() ?? null,
      () => clock.shift() ?? 0,
    )
    expect(ends).toEqual([
      { name: 'audit', code: 0, seconds: 1 },
      { name: 'sbom', code: 1, seconds: 3 },
      { name: 'model', code: null, seconds: 0 },
    ])
  })
})
