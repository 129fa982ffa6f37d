import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { equivalents } from '../mutation/equivalents.js'
import { type Mutant, readMutants } from '../mutation/mutants.js'
import { outdated, scoreOf, unexplained } from '../mutation/mutation-score.js'
import { pieces } from '../mutation/pieces.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const survivor: Mutant = {
  ...{ file: 'src/engine/a.ts', line: 'return a < b', lineNumber: 2, mutator: 'EqualityOperator' },
  ...{ replacement: 'a <= b', fate: 'survived' },
}
const of = (...fates: readonly Mutant['fate'][]) => fates.map((fate) => ({ ...survivor, fate }))

describe('the score of mutated sources', () => {
  it('counts what is not covered or not measured as not noticed, and leaves out what does not compile', () => {
    const all = of('killed', 'killed', 'timed out', 'survived', 'not covered', 'not measured')
    expect(scoreOf([...all, ...of('left out')])).toEqual({
      ...{ all: 6, noticed: 3, percent: 50 },
      timedOutPercent: 100 / 3,
    })
    expect(scoreOf([])).toEqual({ all: 0, noticed: 0, percent: 100, timedOutPercent: 0 })
  })

  it('names what survives without a reason, and reasons without a survivor', () => {
    const { file, line, replacement } = survivor
    const reasoned = { file, line, replacement, reason: 'both are the same here' }
    expect(unexplained([survivor], [])).toEqual([survivor])
    expect(unexplained([survivor, ...of('killed', 'left out')], [reasoned])).toEqual([])
    expect(unexplained([survivor], [{ ...reasoned, replacement: 'a > b' }])).toEqual([survivor])
    expect(outdated([survivor], [reasoned])).toEqual([])
    expect(outdated(of('not covered'), [reasoned])).toEqual([])
    expect(outdated(of('killed'), [reasoned])).toEqual([reasoned])
    expect(outdated(of('killed'), [{ ...reasoned, file: 'src/engine/b.ts' }])).toEqual([])
  })

  it('is read from the report of Stryker', () => {
    const dir = mkdtempSync(join(tmpdir(), 'postern-mutation-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    const at = { mutatorName: 'EqualityOperator', location: { start: { line: 2 } } }
    const mutants = [
      { ...at, replacement: 'a <= b', status: 'Survived', testsCompleted: 3 },
      { ...at, replacement: 'a >= b', status: 'Survived', testsCompleted: 0 },
      ...['Killed', 'Timeout', 'NoCoverage', 'Ignored', 'CompileError', 'RuntimeError'].map(
        (status) => ({ ...at, status }),
      ),
    ]
    const source = 'function less() {\n  return a < b\n}\n'
    const report = { files: { 'src/engine/a.ts': { source, mutants } } }
    writeFileSync(join(dir, 'report.json'), JSON.stringify(report))
    const [first, ...rest] = readMutants(join(dir, 'report.json'))
    expect(first).toEqual(survivor)
    expect(rest.map(({ fate }) => fate)).toEqual([
      ...['not measured', 'killed', 'timed out', 'not covered', 'left out', 'left out'],
      'not measured',
    ])
  })
})

describe('the pieces that are mutated', () => {
  it('are all of src/engine once, and of src/crypto what hashes no password', () => {
    const mutated = pieces.flatMap(({ sources }) => globSync([...sources], { cwd: root }))
    const hashers = ['*-hashers', 'legacy-formats', 'verifiers'].flatMap((name) =>
      globSync(`src/crypto/${name}.ts`, { cwd: root }),
    )
    const sources = globSync('src/{engine,crypto}/**/*.ts', { cwd: root })
    expect(mutated.toSorted()).toEqual(sources.filter((file) => !hashers.includes(file)).toSorted())
  })

  it('have tests', () => {
    for (const { name, tests } of pieces)
      for (const pattern of tests)
        expect([name, pattern, globSync(pattern, { cwd: root })]).not.toContainEqual([])
  })

  it('hold each line that is said to be beyond tests', () => {
    const gone = equivalents.filter(
      ({ file, line }) => !readFileSync(join(root, file), 'utf8').includes(line),
    )
    expect(gone).toEqual([])
  })
})
