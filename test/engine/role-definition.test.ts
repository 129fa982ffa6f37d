import { describe, expect, it } from 'vitest'
import { isPeopleOnlyRole, roleProblem } from '../../src/engine/accounts.js'

const name = 'name must be a text of 1 to 100 characters without white space around it.'
const list = 'permissions must be an array of at most 200 keys.'
const keys =
  'permissions must be keys of 1 to 100 characters without white space. There are no wildcards: name each key.'
const many = (count: number) => Array.from({ length: count }, (_, index) => `key.${index}`)

describe('the definition of a role', () => {
  it.each([
    ['e', []],
    ['the editor', ['posts.write']],
    ['r'.repeat(100), ['k'.repeat(100)]],
    ['editor', many(200)],
  ])('%s is in order', (given, permissions) => {
    expect(roleProblem(given, permissions)).toBeNull()
  })

  it.each([
    ['', [], name],
    [' editor', [], name],
    ['editor ', [], name],
    ['r'.repeat(101), [], name],
    [7, [], name],
    ['a\0b', [], name],
    ['editor', 'posts.write', list],
    ['editor', many(201), list],
    ['editor', ['posts.*'], keys],
    ['editor', ['posts write'], keys],
    ['editor', [''], keys],
    ['editor', ['k'.repeat(101)], keys],
    ['editor', ['posts.write', 7], keys],
    ['editor', ['a\0b'], keys],
  ])('%j with %j is told', (given, permissions, problem) => {
    expect(roleProblem(given, permissions)).toBe(problem)
  })
})

it('the roles of people alone are known however they are written', () => {
  const all = ['super_admin', ' Super_Admin ', 'ADMINISTRATOR', 'admin', 'administrators', '']
  expect(all.map(isPeopleOnlyRole)).toEqual([true, true, true, false, false, false])
})
