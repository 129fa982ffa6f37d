import type { Db } from 'mongodb'
import { refuseUnknown } from '../shared/refuse-unknown.js'

/** The options of `mongo`. */
export interface MongoOptions {
  /** The database that holds the collections: `client.db('auth')` of the `mongodb` driver. */
  readonly db: Db
  /** Put before the name of every collection, such as `auth_`. At most 20 characters; default none. */
  readonly prefix?: string
}

const name = /^[a-z_][a-z0-9_]*$/

/** Throws a `TypeError` that names the option which will not do. */
export function checkOptions(options: MongoOptions): void {
  const { db, prefix, ...rest } = options ?? {}
  if (typeof db?.collection !== 'function' || typeof db.listCollections !== 'function') {
    throw new TypeError(
      'mongo: option "db" must be a Db of the mongodb driver, such as client.db("auth")',
    )
  }
  refuseUnknown('mongo', rest)
  if (prefix === undefined || prefix === '') return
  if (typeof prefix !== 'string' || prefix.length > 20 || !name.test(prefix)) {
    throw new TypeError(
      `mongo: option "prefix" must be lower-case letters, digits and "_", at most 20, ` +
        `not starting with a digit; it is ${JSON.stringify(prefix)}`,
    )
  }
}
