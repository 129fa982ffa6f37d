import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/openapi/index.js'
import { untestedOperations } from '../../tools/check-operations.js'

const document = openApiDocument({ surfaces: ['client'] })
const all = Object.values(document.paths).flatMap((item) =>
  Object.values(item).map(({ operationId, responses }) => {
    return `${operationId} ${Object.keys(responses).find((status) => Number(status) < 400)}`
  }),
)

describe('R-4.4-02 check-operations', () => {
  it('is content when every operation of every surface succeeded', () => {
    expect(all.length).toBeGreaterThan(30)
    expect(untestedOperations(document, all)).toEqual([])
  })

  it('names one that was only refused, or not called', () => {
    const some = all.map((line) => (line === 'clientLogin 200' ? 'clientLogin 401' : line))
    expect(untestedOperations(document, some)).toEqual(['clientLogin'])
    expect(untestedOperations(document, [''])).toHaveLength(all.length)
  })
})
