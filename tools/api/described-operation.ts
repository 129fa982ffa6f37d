import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from '../../src/openapi/types.js'
import type { Operation } from '../../src/operations/operation.js'

/** A row of the table, and what the OpenAPI document says of it. */
export interface DescribedOperation {
  readonly row: Operation
  /** The paths it is served at, those that only choose a surface included. */
  readonly paths: readonly string[]
  /** At the first of them; the others are alike. */
  readonly operation: OpenApiOperation
  /** The answer that is no refusal. */
  readonly answer: OpenApiResponse
}

export function describeOperations(
  operations: readonly Operation[],
  document: OpenApiDocument,
): readonly DescribedOperation[] {
  return operations.map((row) => {
    const own = row.surfaces.map((surface) => row.path.replace('{surface}', surface))
    const [first = ''] = own
    const item = Object.entries(document.paths[first] ?? {})
    const operation = item.find(([method]) => method === row.method.toLowerCase())?.[1]
    const answer = operation?.responses[String(row.status)]
    if (operation === undefined || answer === undefined || '$ref' in answer) {
      throw new Error(`the document does not describe ${row.id}`)
    }
    const paths = row.unprefixedPath === undefined ? own : [...own, row.unprefixedPath]
    return { row, paths, operation, answer }
  })
}
