import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { intentKinds } from '../../src/engine/intents.js'
import type { PlantEntry } from './plant.js'

const file = 'src/engine/intents.ts'
const source = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')

/** The row of a kind as it is written, up to the end of what it hangs on. */
function rowOf(kind: string): string {
  const [row] = new RegExp(`\\n  ${kind}: \\{[^\\]]*hangsOn: \\[[^\\]]*\\]`).exec(source) ?? []
  if (row === undefined) throw new Error(`${file} has no row of ${kind}`)
  return row
}

/** Each condition of each kind, taken away. */
export const conditionPlants: readonly PlantEntry[] = Object.entries(intentKinds).flatMap(
  ([kind, { hangsOn }]) =>
    hangsOn.map((condition) => ({
      name: `an intent of the kind ${kind} does not hang on ${condition}`,
      file,
      find: rowOf(kind),
      replace: rowOf(kind).replace(new RegExp(`'${condition}'(, )?`), ''),
      tests: ['test/domain/intents/conditions.test.ts'] as const,
    })),
)
