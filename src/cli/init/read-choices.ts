import type { Call } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { type Choices, type Framework, frameworks, type StoreName, stores } from './choices.js'

/** The flags, and the person's answers for those that are not given. Throws `Refusal` with code 2. */
export async function readChoices(call: Call): Promise<Choices> {
  const framework = await answer<Framework>(call, 'framework', frameworks)
  const store = await answer<StoreName>(call, 'store', stores)
  return { framework, store, email: await emailOf(call) }
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
