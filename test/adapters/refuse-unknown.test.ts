import { describe, expect, it } from 'vitest'
import { checkOptions as checkMongo } from '../../adapters/mongo/options.js'
import { placeOf as checkPostgres } from '../../adapters/postgres/options.js'
import { checkOptions as checkRedis } from '../../adapters/redis/options.js'

const given = (text: string) => JSON.parse(text)

describe('an option of another backend, or misspelt', () => {
  it.each([
    ['postgres', 'shema', () => checkPostgres(given('{"shema":"auth"}'))],
    ['postgres', 'prefix', () => checkPostgres(given('{"schema":"auth","prefix":"a_"}'))],
    ['redis', 'tablePrefix', () => checkRedis(given('{"tablePrefix":"a_"}'))],
    [
      'mongo',
      'keyPrefix',
      () => {
        const db = { collection: () => null, listCollections: () => null }
        checkMongo({ ...given('{"keyPrefix":"a"}'), db })
      },
    ],
  ])('%s names "%s"', (backend, option, check) => {
    const message = `${backend}: "${option}" is not an option; check its spelling`
    expect(check).toThrow(new TypeError(message))
  })

  it('and takes those there are', () => {
    expect(() => checkPostgres({ schema: 'auth', tablePrefix: 'a_' })).not.toThrow()
    expect(() => checkRedis({ keyPrefix: 'a:', assumeNoEviction: true })).not.toThrow()
  })
})
