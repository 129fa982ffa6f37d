import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { newKeyFile } from '../keys/generate-keys.js'
import { createKeyFile, usualKeyFile } from '../keys/key-file.js'
import { type Choices, type Framework, frameworks, type StoreName, stores } from './choices.js'
import { configFile } from './config-file.js'
import { ignoreSecrets } from './ignore-secrets.js'
import { pageFile } from './page-file.js'
import { envFile, packageFile, packagesOf, tsconfigFile, type Versions } from './project-files.js'
import { serverFile } from './server-file.js'

export const initCommand: Command = {
  help: `Usage: postern init [--framework NAME] [--store NAME] [--email ADDRESS]
                    [--name TEXT]

Writes a host into this folder: postern.config.ts, server.ts, a page for links
to a password, .env, tsconfig.json, an empty auth.db for SQLite, and the keys in
${usualKeyFile}.
What must not reach a repository is put into .gitignore first; where git would
commit it all the same, nothing else is written. It asks four questions, unless
the flags answer them:

  --framework  express, fastify, koa or hono
  --store      sqlite (needs nothing), postgres, mariadb or mongo
  --email      the address of the first operator
  --name       what people call your product; without it, the folder's name.
               Authenticator apps show it

No file is written over: where one of them is there, nothing is written. An
existing package.json stays, and the command says what to install. The host runs
on Node 22.18 or newer. Nothing is installed or started.`,
  flags: {
    framework: { type: 'string' },
    store: { type: 'string' },
    email: { type: 'string' },
    name: { type: 'string' },
  },
  async run(call) {
    if (call.words.length > 0) throw new Refusal('postern init takes options, and no words.', 2)
    const choices = await readChoices(call)
    const { version, versions } = await ownManifest()
    const files = new Map([
      ['postern.config.ts', configFile(choices)],
      ['server.ts', serverFile(choices.framework)],
      ['pages/reset-password.html', pageFile()],
      ['.env', envFile(choices)],
      ['tsconfig.json', tsconfigFile()],
    ])
    const hasManifest = existsSync(join(call.cwd, 'package.json'))
    // Empty, and for its owner alone: SQLite would let every user of the machine read it.
    if (choices.store === 'sqlite') files.set('auth.db', '')
    if (!hasManifest) files.set('package.json', packageFile(choices, versions, version))
    refuseExisting(call, [...files.keys(), usualKeyFile])
    await ignoreSecrets(call.cwd)
    await createKeyFile(join(call.cwd, usualKeyFile), await newKeyFile(call))
    for (const [path, text] of files) await writeNew(join(call.cwd, path), text)
    const written = ['.gitignore', usualKeyFile, ...files.keys()]
    const steps = nextSteps(hasManifest, choices)
    const next = runsTypeScript(call.nodeVersion) ? steps : [newerNode(call.nodeVersion), ...steps]
    if (call.json) call.out(JSON.stringify({ written, next }))
    else
      call.out(
        [`Wrote ${written.join(', ')}.`, 'Next:', ...next.map((step) => `  ${step}`)].join('\n'),
      )
    return 0
  },
}

function refuseExisting({ cwd }: Call, paths: readonly string[]): void {
  const found = paths.filter((path) => existsSync(join(cwd, path)))
  if (found.length === 0) return
  throw new Refusal(`There is ${found.join(', ')} already. Nothing was written.`)
}

/** Refuses a file that came into being meanwhile. */
async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const mode = /\.(?:env|db)$/.test(path) ? 0o600 : 0o644
  await writeFile(path, text, { flag: 'wx', mode })
}

function runsTypeScript(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  return major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
}

const newerNode = (found: string) =>
  `install Node 22.18 or newer: this is ${found}, which cannot run the TypeScript of this folder`

function nextSteps(hasManifest: boolean, choices: Choices): readonly string[] {
  const { dependencies, devDependencies } = packagesOf(choices)
  const database = choices.store === 'sqlite' ? [] : ['set DATABASE_URL in .env']
  const run = ['npm start', 'open the link, choose a password, and sign in']
  if (!hasManifest) return [...database, 'npm install', 'npm run setup   # prints a link', ...run]
  return [
    ...database,
    `npm install postern ${dependencies.join(' ')}`.trim(),
    `npm install --save-dev ${devDependencies.join(' ')}`,
    'npx --no-install postern migrate --apply',
    `npx --no-install postern create-operator ${choices.email}`,
    'node --env-file=.env server.ts   # package.json needs "type": "module"',
    'open the link, choose a password, and sign in',
  ]
}

/** The versions of packages that the package itself does not name: what its examples run on. */
const others: Versions = {
  '@hono/node-server': '^2.0.0',
  hono: '^4.0.0',
  '@types/express': '^5.0.0',
  '@types/koa': '^3.0.0',
  '@types/node': '^22.18.0',
  '@types/pg': '^8.0.0',
  typescript: '^5.8.0 || ^6.0.0',
}

/** The version of this package, and those that a host may install beside it. */
export async function ownManifest(): Promise<{
  readonly version: string
  readonly versions: Versions
}> {
  const path = createRequire(import.meta.url).resolve('postern/package.json')
  const manifest: { readonly version: string; readonly peerDependencies: Versions } = JSON.parse(
    await readFile(path, 'utf8'),
  )
  return { version: manifest.version, versions: { ...others, ...manifest.peerDependencies } }
}

/** The flags, and the person's answers for those that are not given. Throws `Refusal` with code 2. */
export async function readChoices(call: Call): Promise<Choices> {
  const framework = await answer<Framework>(call, 'framework', frameworks)
  const store = await answer<StoreName>(call, 'store', stores)
  const email = await emailOf(call)
  return { framework, store, email, name: await nameOf(call) }
}

/** Asked for only where somebody is there: it can be changed at any time. */
async function nameOf({ cwd, flags, ask }: Call): Promise<string> {
  const isName = (text: string) => text !== '' && text.length <= 64 && !/\p{C}/u.test(text)
  const usual = isName(basename(cwd)) ? basename(cwd) : 'My product'
  const given = flags['name'] ?? (await ask?.(`What do people call your product? (${usual}) `))
  const name = String(given ?? '').trim() || usual
  if (isName(name)) return name
  throw new Refusal('--name must be a text of 1 to 64 characters.', 2)
}

async function answer<Name extends string>(
  { flags, ask }: Call,
  flag: string,
  names: readonly Name[],
): Promise<Name> {
  const list = names.join(', ')
  const given = flags[flag] ?? (await asked(ask, flags, `Which ${flag}? (${list}) `))
  const [usual] = names
  const wanted = String(given).trim() || usual
  const found = names.find((name) => name === wanted)
  if (found !== undefined) return found
  throw new Refusal(`--${flag} must be one of ${list}.`, 2)
}

async function emailOf({ flags, ask }: Call): Promise<string> {
  const given = flags['email'] ?? (await asked(ask, flags, 'The first operator’s e-mail address? '))
  const email = String(given).trim()
  // The library judges it later; here it goes into a script, where nothing but these characters may stand.
  if (/^[\w.+-]+@[\w-]+(\.[\w-]+)+$/.test(email) && email.length <= 254) return email
  throw new Refusal('--email must be an address, such as ada@example.org.', 2)
}

async function asked(ask: Call['ask'], flags: Call['flags'], question: string): Promise<string> {
  if (ask !== null) return ask(question)
  const missing = ['framework', 'store', 'email'].filter((flag) => flags[flag] === undefined)
  const needed = missing.map((flag) => `--${flag}`).join(', ')
  throw new Refusal(`There is no terminal to ask: give ${needed}.`, 2)
}
