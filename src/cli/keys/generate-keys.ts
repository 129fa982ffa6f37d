import { generateSigningKey } from 'postern'
import type { Call, Surroundings } from '../frame/command.js'
import { describeKey } from './describe-key.js'
import { createKeyFile, type KeyFile } from './key-file.js'

type Machine = Pick<Surroundings, 'now' | 'randomBytes'>

/** Makes the file, or writes new keys to the output with `--print`. */
export async function generateKeys(call: Call, path: string): Promise<number> {
  const made = await newKeyFile(call)
  const [configKey] = made.configKeys
  if (call.flags['print'] === true) {
    const { current } = made.signing
    const printed = { SIGNING_KEY: current, CONFIG_ENCRYPTION_KEY: configKey?.key ?? '' }
    const lines = Object.entries(printed).map(([name, value]) => `${name}="${value.trim()}"`)
    call.out(call.json ? JSON.stringify(printed) : lines.join('\n'))
    return 0
  }
  await createKeyFile(path, made)
  const { kid } = describeKey(made.signing.current)
  const done = { file: path, kid, configurationKey: configKey?.id ?? '' }
  call.out(call.json ? JSON.stringify(done) : `Made ${path} with the signing key ${kid}.`)
  call.err(
    'Keep it out of the repository and out of images, and back it up where secrets are kept.',
  )
  return 0
}

/** A signing key and a configuration key, made now. */
export async function newKeyFile(machine: Machine): Promise<KeyFile> {
  const now = machine.now()
  const current = await generateSigningKey()
  const configKey = newConfigKey(machine, [])
  return {
    signing: { current },
    configKeys: [configKey],
    dates: { [describeKey(current).kid]: { madeAt: now }, [configKey.id]: { madeAt: now } },
  }
}

/** Its id is the day, with a number where that day has one. */
export function newConfigKey({ now, randomBytes }: Machine, taken: readonly string[]) {
  const day = new Date(now()).toISOString().slice(0, 10)
  const ids = [day, ...taken.map((_, index) => `${day}-${index + 2}`)]
  const id = ids.find((one) => !taken.includes(one)) ?? day
  return { id, key: Buffer.from(randomBytes(32)).toString('base64') }
}
