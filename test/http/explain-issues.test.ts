import { describe, expect, it } from 'vitest'
import { explainIssues } from '../../src/http/request-input.js'
import { configPatchInput } from '../../src/operations/config-schemas.js'

function explained(given: unknown): string {
  const result = configPatchInput.safeParse(given)
  if (result.success) throw new Error('nothing is refused')
  return explainIssues('request', result.error.issues)
}

describe('what is wrong with a request', () => {
  it.each([
    [{ config: { retries: 7 } }, '"config.retries" must be a text'],
    [{ recordLists: [{ create: [] }] }, '"recordLists.0.field" must be a text'],
    [{ recordLists: {} }, '"recordLists" must be a list'],
    [{ config: 5 }, '"config" must be an object'],
    [{ revision: '7' }, '"revision" must be a number'],
    [{ revision: 7.5 }, '"revision" must be a whole number'],
    [{ config: { sender: '\0' } }, '"config.sender" is missing or not valid'],
    [{ conf: {} }, 'it has a member that is not known'],
    [[], 'it must be an object'],
  ])('%o: %s', (given, says) => {
    expect(explained(given)).toBe(`The request is not of the expected form: ${says}.`)
  })
})
