const kib = 1024

/**
 * What a subpath may weigh, in bytes: as a host's bundler makes one minified file of it, compressed by gzip, without
 * other packages. `npm run generate -- sizes` prints what they weigh now. A bound that is met by chance leaves a tenth.
 */
export const gzipBounds: Readonly<Record<string, number>> = {
  postern: 300 * kib,
  'postern/config': 9 * kib,
  'postern/config/secrets': 2 * kib,
  'postern/mails': 7 * kib,
  // The table of operations with the functions that it calls, which a host has with `postern` anyway.
  'postern/openapi': 108 * kib,
  'postern/testing': 27 * kib,
  'postern/client': 4 * kib,
  'postern/client/passkeys': 1 * kib,
  'postern/client/mobile': 5 * kib,
  'postern/react': 1 * kib,
  'postern/express': 2 * kib,
  'postern/fastify': 2 * kib,
  'postern/koa': 2 * kib,
  'postern/fetch': 2 * kib,
  'postern/memory': 5.5 * kib,
  'postern/postgres': 10 * kib,
  'postern/stores': 6.5 * kib,
  'postern/sql': 7.5 * kib,
  'postern/sqlite': 8.5 * kib,
  'postern/mariadb': 8.5 * kib,
  'postern/mongo': 8.5 * kib,
  'postern/redis': 11 * kib,
}

/** `postern/config` as it is shipped, with its chunks, in bytes. */
export const shippedConfigBound = 56 * kib

/** The usual host with Express and Postgres, minified with all packages, in bytes. */
export const hostBound = 1300 * kib

/**
 * One name of each subpath that has several, with what a bundler may leave of the subpath then, in minified bytes,
 * and a text of what has to be gone.
 */
export const shakenBounds: Readonly<Record<string, readonly [string, number, string]>> = {
  // The table of operations stays, and what it calls: it is made by calls, which a bundler has to keep.
  postern: ['generateSigningKey', 325 * kib, 'another replica has taken it'],
  'postern/config': ['defineModule', 11 * kib, 'recordLists'],
  'postern/config/secrets': ['secretBox', 2.5 * kib, 'unreadable'],
  'postern/mails': ['english', 6 * kib, 'Passwort'],
  // So do the tables of cases of the kit, and that is all there is beside it.
  'postern/testing': ['fakeClock', 80 * kib, 'keepsVersions'],
  'postern/client': ['isPosternError', 0.25 * kib, 'POST /logout'],
  'postern/client/mobile': ['isPosternError', 0.25 * kib, 'refresh_token_reused'],
  'postern/react': ['useSession', 0.6 * kib, 'useAuthClient'],
  'postern/express': ['expressRouter', 2 * kib, 'requirePermission'],
  'postern/fastify': ['fastifyRouter', 2.25 * kib, 'requirePermission'],
  'postern/koa': ['koaRouter', 2 * kib, 'requirePermission'],
  'postern/fetch': ['fetchHandler', 1.25 * kib, 'requirePermission'],
  'postern/stores': ['denylistSpec', 0.25 * kib, 'await_auth_migrate_before_serving'],
}
