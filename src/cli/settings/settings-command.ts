import { type Auth, AuthError, type ConfigChange, type EnvironmentView } from 'postern'
import { ConfigValidationError } from 'postern/config'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { withAuth } from '../frame/with-auth.js'

export const settingsCommand: Command = {
  help: `Usage: postern settings get [KEY …]
       postern settings set KEY=VALUE [KEY=VALUE …] [--revision N]

Reads and changes the settings that are stored, or another module of the
configuration. No permission is asked: who may run this may read the database.
Values pass the rules and validators that administrators meet, and a change is
recorded with the actor cli. It is in force within 30 seconds in every process.
An empty value (KEY=) clears it. Elements of a list can be changed, as in
LIST.SLUG.KEY=VALUE, and neither created nor removed. A secret is never shown.
It is set from a variable of the environment: KEY=env:NAME.

  --module NAME       default auth, the settings of the library
  --environment NAME  default the active one
  --revision N        refuse the change if another was made since revision N`,
  flags: {
    module: { type: 'string' },
    environment: { type: 'string' },
    revision: { type: 'string' },
  },
  async run(call) {
    const [word = '', ...rest] = call.words
    if (word === 'get') return read(call, rest)
    if (word === 'set') return change(call, rest)
    throw new Refusal('Say one of: postern settings get, set.', 2)
  },
}

async function read(call: Call, keys: readonly string[]): Promise<number> {
  const { module, environment } = placeOf(call)
  const { view, fields } = await withAuth(call, await call.config(), async (auth) => ({
    view: await auth.config.view(module, environment),
    fields: (await auth.config.describe(module)).fields,
  }))
  const unknown = keys.find((key) => !Object.hasOwn(view.sources, key))
  if (unknown !== undefined) throw new Refusal(`The module ${module} has no field "${unknown}".`)
  if (call.json) {
    call.out(JSON.stringify(view))
    return 0
  }
  const shown = keys.length === 0 ? Object.keys(view.sources) : keys
  const defaults = new Map(fields.map((field) => [field.key, field.default]))
  for (const key of shown) call.out(`${key}=${textOf(view, key, defaults.get(key))}`)
  call.err(`${view.environment}, revision ${view.revision}`)
  return 0
}

/** What is stored, or where the value comes from instead. */
function textOf(
  { config, secretsSet, recordLists, sources }: EnvironmentView,
  key: string,
  initial: string | undefined,
): string {
  if (Object.hasOwn(config, key)) return config[key] ?? ''
  if (secretsSet.includes(key)) return '(a secret is set)'
  const list = recordLists.find(({ field }) => field === key)
  if (list !== undefined) return `(${list.elements.map(({ slug }) => slug).join(', ')})`
  const source = Object.hasOwn(sources, key) ? (sources[key] ?? 'default') : 'default'
  return source === 'default' && initial !== undefined ? `(default: ${initial})` : `(${source})`
}

async function change(call: Call, words: readonly string[]): Promise<number> {
  const given = words.map((word) => settingOf(call, word))
  if (words.length === 0) throw new Refusal('Say what to set: postern settings set KEY=VALUE', 2)
  const { module, environment } = placeOf(call)
  const named = environment === undefined ? {} : { environment }
  const config = Object.fromEntries(given.map(({ key, value }) => [key, value]))
  const edit = { ...named, ...revisionOf(call), config }
  const options = await call.config()
  call.err('No permission is asked: the command does not call the authorizer.')
  const after = await withAuth(call, options, async (auth) => {
    const shown = given.filter(({ isShown }) => isShown).map(({ key }) => key)
    await refuseSecrets(auth, module, shown)
    return changed(auth, module, edit)
  })
  if (call.json) call.out(JSON.stringify(after))
  else call.out(`${after.environment} has revision ${after.revision}.`)
  if (module === 'auth' && after.active && given.some(demandsFactor)) {
    call.err('Open sessions go on without a second factor; auth.terminateAllSessions() ends them.')
  }
  return 0
}

function demandsFactor({ key, value }: Given): boolean {
  return key.startsWith('mfaPolicy') && value === 'required'
}

/** An argument stands in the list of processes and in the history of the shell. */
async function refuseSecrets(auth: Auth, module: string, keys: readonly string[]): Promise<void> {
  const { fields } = await auth.config.describe(module)
  for (const key of keys) {
    // `hooks.eu.key` is the secret `key` of an element of the list `hooks`.
    const [first, , last] = key.split('.')
    const field = fields.find((one) => one.key === first)
    const inner = field?.items?.find((one) => one.key === last)
    const isSecret =
      [field, inner].some((one) => one?.type === 'FieldSecret') || field?.secret === true
    if (!isSecret) continue
    throw new Refusal(
      `${key} is a secret, which no argument may hold. Put it into a variable, and say ${key}=env:NAME.`,
      2,
    )
  }
}

async function changed(auth: Auth, module: string, edit: ConfigChange): Promise<EnvironmentView> {
  try {
    return await auth.config.change(module, edit, { actorId: 'cli' })
  } catch (error) {
    if (error instanceof AuthError && error.code === 'config.roster_conflict') {
      // Its own advice is to read again, which makes no element.
      const which = `${error.field}: the list has no such element`
      const remedy = 'create it over HTTP, or in code by auth.config.change with recordLists'
      throw new Refusal(`${which}, and this command creates none; ${remedy}.`, 1, { cause: error })
    }
    if (!(error instanceof ConfigValidationError)) throw error
    throw new Refusal(`${error.field}: ${error.message}`, 1, { cause: error })
  }
}

function placeOf({ flags }: Call): {
  readonly module: string
  readonly environment: string | undefined
} {
  const { module = 'auth', environment } = flags
  return {
    module: String(module),
    environment: environment === undefined ? undefined : String(environment),
  }
}

function revisionOf({ flags: { revision } }: Call): { readonly revision?: number } {
  if (revision === undefined) return {}
  if (typeof revision === 'string' && /^\d{1,15}$/.test(revision)) {
    return { revision: Number(revision) }
  }
  throw new Refusal('--revision must be the number that postern settings get shows.', 2)
}

interface Given {
  readonly key: string
  readonly value: string
  /** The value itself stands in the arguments. */
  readonly isShown: boolean
}

/** `KEY=VALUE`; a value `env:NAME` is that of a variable, so that no secret stands in a list of processes. */
function settingOf({ env }: Call, word: string): Given {
  const at = word.indexOf('=')
  if (at < 1) throw new Refusal(`"${word}" is not KEY=VALUE.`, 2)
  const [key, given] = [word.slice(0, at), word.slice(at + 1)]
  if (!given.startsWith('env:')) return { key, value: given, isShown: given !== '' }
  const value = env[given.slice(4)]
  if (value === undefined) throw new Refusal(`The variable ${given.slice(4)} is not set.`, 2)
  if (value === '') {
    // Seldom meant: a variable that was left out of the environment is often there, and empty.
    throw new Refusal(`The variable ${given.slice(4)} is empty. To clear ${key}, say ${key}=`, 2)
  }
  return { key, value, isShown: false }
}
