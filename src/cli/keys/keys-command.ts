import { resolve } from 'node:path'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { generateKeys } from './generate-keys.js'
import { usualKeyFile } from './key-file.js'
import { rotateKeys } from './rotate-keys.js'
import { showKeys } from './show-keys.js'

const actions: Readonly<Record<string, (call: Call, path: string) => Promise<number>>> = {
  generate: generateKeys,
  rotate: rotateKeys,
  show: showKeys,
}

export const keysCommand: Command = {
  help: `Usage: postern keys generate | rotate | show [--file FILE]

  generate   makes the file, with a signing key (RSA-3072) and a configuration
             key; --print writes both to the output, for a vault, and no file
  rotate     takes the next step: publishes a new key; from ten minutes later,
             lets it sign, and keeps the public half of the key before; drops
             keys that were replaced 31 days ago. Run it until it says "Done"
  show       lists the keys with their age, and never the keys themselves

  --file FILE       default ${usualKeyFile}
  --keep DAYS       how long rotate keeps a replaced key, 1 to 3650: at least as
                    long as JWT_REFRESH_TOKEN_EXPIRY (7 days by default)
  --stolen          with rotate: a new key at once, and no other. All tokens of
                    the keys before are refused; all users sign in again
  --configuration   with rotate: a new configuration key, in two calls that are
                    ten minutes apart or more. Restart every process after each;
                    after the second, the key encrypts: call
                    auth.config.reencrypt(), and remove the earlier key later

A host that reads the file like this has new signing keys within a minute:
  keys: async () => JSON.parse(await readFile(file, 'utf8')).signing`,
  flags: {
    file: { type: 'string' },
    keep: { type: 'string' },
    print: { type: 'boolean' },
    stolen: { type: 'boolean' },
    configuration: { type: 'boolean' },
  },
  async run(call) {
    const [word = '', ...more] = call.words
    const action = Object.hasOwn(actions, word) ? actions[word] : undefined
    if (action === undefined || more.length > 0) {
      throw new Refusal('Say one of: postern keys generate, rotate, show.', 2)
    }
    const { file } = call.flags
    return action(call, resolve(call.cwd, typeof file === 'string' ? file : usualKeyFile))
  },
}
