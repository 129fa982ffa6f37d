import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openApiDocument } from '../src/openapi/index.js'
import type { OpenApiDocument } from '../src/openapi/types.js'

/**
 * What of a document the contract suite did not do in the last run: operations that it never saw
 * succeed, by their ids. `exercised` has lines such as `clientLogin 200`.
 */
export function untestedOperations(
  document: OpenApiDocument,
  exercised: readonly string[],
): readonly string[] {
  const met = new Set(exercised)
  const ids = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId, responses }) => ({
      operationId,
      successes: Object.keys(responses).filter((status) => Number(status) < 400),
    })),
  )
  return ids
    .filter(({ operationId, successes }) =>
      successes.every((status) => !met.has(`${operationId} ${status}`)),
    )
    .map(({ operationId }) => operationId)
}

function main(): void {
  const file = new URL('../.results/exercised.txt', import.meta.url)
  const document = openApiDocument()
  const untested = untestedOperations(document, readFileSync(file, 'utf8').split('\n'))
  for (const id of untested) console.error(`the contract suite never saw ${id} succeed`)
  if (untested.length > 0) process.exitCode = 1
  else console.log('the contract suite saw every operation succeed')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
