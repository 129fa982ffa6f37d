import type { TotpFactor } from '../../model/factors.js'
import { joinReencryptions, type Reencryption } from '../configuration/reencryption.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { sealTotp, totpPlace } from './seal-totp.js'

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'secretBox'>

/** Secrets read and written beside each other: others share the database meanwhile. */
const batch = 50

/**
 * Encrypts the secrets of authenticator apps under the first key that are under another one of the ring.
 * May be repeated and interrupted: what is left is found by the id of its key. A secret that still waits
 * for its first code stays as it is, since it is good for ten minutes only.
 */
export function createTotpReencryption(deps: Deps): () => Promise<Reencryption> {
  const { surface, secretBox } = deps
  const { totpFactors } = deps.collections

  /** Whether this call did it; null where no key decrypts the secret. */
  async function move({ id, userId, sealedSecret }: TotpFactor): Promise<boolean | null> {
    const secret = secretBox.open(sealedSecret, totpPlace(surface, userId))
    if (secret === null) return null
    const sealed = sealTotp(deps, userId, secret)
    // A use of the app, a removal or another enrolment came between: none of them leaves the older text.
    return (await totpFactors.update(id, { confirmed: true, sealedSecret }, sealed)) !== null
  }

  async function moveFrom(keyId: string): Promise<Reencryption> {
    let [after, reencrypted] = ['', 0]
    const damaged: Reencryption['damaged'][number][] = []
    for (;;) {
      const page = await totpFactors.find({ keyId }, { limit: batch, after })
      const outcomes = await Promise.all(
        page
          .filter(({ confirmed }) => confirmed)
          .map(async (factor) => {
            const isMoved = await move(factor)
            if (isMoved === null) damaged.push(totpPlace(surface, factor.userId))
            return isMoved
          }),
      )
      reencrypted += outcomes.filter((isMoved) => isMoved === true).length
      const last = page.at(-1)
      if (last === undefined || page.length < batch) return { reencrypted, damaged }
      after = last.id
    }
  }

  return async () => {
    const [, ...older] = secretBox.keyIds
    const all: Reencryption[] = []
    for (const keyId of older) all.push(await moveFrom(keyId))
    return joinReencryptions(all)
  }
}
