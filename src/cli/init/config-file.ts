import type { Choices, StoreName } from './choices.js'

interface StoreCode {
  /** Sorted with the imports of every host. */
  readonly imports: readonly string[]
  /** What stands before the options. */
  readonly setup: string
  readonly backend: string
}

const fromEnvironment = `const { DATABASE_URL } = process.env
if (!DATABASE_URL) throw new Error('DATABASE_URL is not set: see the file .env')
`

const code: Readonly<Record<StoreName, StoreCode>> = {
  sqlite: {
    imports: [
      "import { DatabaseSync } from 'node:sqlite'",
      "import { sqlite } from 'postern/sqlite'",
    ],
    setup: '',
    backend: "sqlite(new DatabaseSync('auth.db'))",
  },
  postgres: {
    imports: ["import pg from 'pg'", "import { postgres } from 'postern/postgres'"],
    setup: `${fromEnvironment}const pool = new pg.Pool({ connectionString: DATABASE_URL })
pool.on('error', console.error) // without it, a lost idle connection ends the process
`,
    backend: 'postgres(pool)',
  },
  mariadb: {
    imports: ["import { createPool } from 'mariadb'", "import { mariadb } from 'postern/mariadb'"],
    setup: fromEnvironment,
    backend: 'mariadb(createPool(DATABASE_URL))',
  },
  mongo: {
    imports: ["import { MongoClient } from 'mongodb'", "import { mongo } from 'postern/mongo'"],
    setup: `${fromEnvironment}const client = new MongoClient(DATABASE_URL, { serverSelectionTimeoutMS: 2000 })
`,
    backend: "mongo({ db: client.db('auth') })",
  },
}

/** The options that the host and the command share. */
export function configFile({ store, name }: Pick<Choices, 'store' | 'name'>): string {
  const { imports, setup, backend } = code[store]
  const all = ["import { readFile } from 'node:fs/promises'", ...imports]
  const own = "import { type AuthOptions, roleAuthorizer } from 'postern'"
  const isBuiltIn = (line: string) => line.includes("'node:")
  const drivers = all.filter((line) => !isBuiltIn(line) && !line.includes("'postern"))
  const adapters = all.filter((line) => line.includes("'postern"))
  return `${[...all.filter(isBuiltIn), ...drivers, own, ...adapters].join('\n')}

// Where browsers reach the host. In production, give each surface a host name of its own.
const { AUTH_URL, NODE_ENV } = process.env
if (!AUTH_URL && NODE_ENV === 'production') throw new Error('Set AUTH_URL, as in https://auth.example.com')
const baseUrl = AUTH_URL || 'http://localhost:3000'

${setup}const keyFile = new URL('.postern/keys.json', import.meta.url)
const readKeys = async () => JSON.parse(await readFile(keyFile, 'utf8'))

const options: AuthOptions = {
  backend: ${backend},
  // Read every minute: postern keys rotate signs no user out.
  keys: async () => (await readKeys()).signing,
  configKeys: (await readKeys()).configKeys,
  surfaces: {
    operator: {
      baseUrl,
      pages: { verifyEmail: '/operator/verify-email', resetPassword: '/operator/reset-password' },
    },
    client: { baseUrl },
  },
  settings: { totpIssuer: ${JSON.stringify(name)} }, // the first value: take the line out once you store another
  // Behind a proxy: the number of proxies. Without it, X-Forwarded-For is not believed.
  trustProxy: false,
  authorizer: roleAuthorizer(),
  mailer: {
    // Call your mail service here. A link or code is as good as a password: log none in production.
    async send({ to, template, data }) {
      console.log('mail', to, template, 'url' in data ? data.url : 'code' in data ? data.code : '')
    },
  },
}

export default options
`
}
