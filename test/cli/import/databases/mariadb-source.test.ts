import { describe, expect, it } from 'vitest'
import { tlsIn } from '../../../../src/cli/import/databases/open-source-database.js'

const at = (query: string) => new URL(`mysql://u:p@db.example/app${query}`)

describe('the address of a MariaDB or MySQL that is imported from', () => {
  it.each([
    ['', false],
    ['?ssl=false', false],
    ['?ssl-mode=DISABLED', false],
    ['?charset=latin1', false],
    ['?ssl=true', true],
    ['?charset=latin1&ssl=true', true],
    ['?ssl-mode=VERIFY_CA', true],
    ['?ssl-mode=VERIFY_IDENTITY', true],
    ['?ssl-mode=REQUIRED', true],
  ])('says by "%s" whether the connection is encrypted', (query, ssl) => {
    expect(tlsIn(at(query))).toEqual(ssl)
  })

  it.each([
    '?ssl-mode=required',
    '?sslmode=require',
    '?ssl=true&ssl-mode=REQUIRED',
    '?useTls=1',
    '?ssl=',
  ])('is refused for "%s", which would be left out silently', (query) => {
    expect(() => tlsIn(at(query))).toThrow('may have one of these: ssl=true')
  })
})
