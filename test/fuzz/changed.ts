import { type Draw, oneOf } from './fuzz.js'

const odd = ['\0', '\r\n', '\t', ' ', '%', '%00', '\u00e9', '\uff20', '\u212a', '\ud800', '"', '\\']
const plain = ['a', 'Z', '0', '9', '.', '-', '_', '@', '=', '&', ';', ',', ':', '$', '/', '[', '{']
const pieces = [...odd, ...plain]

/** Up to three changes of one of the texts: something put in, taken out, doubled, in capitals, or of another text. */
export function changedText(draw: Draw, texts: readonly string[]): string {
  let text = oneOf(draw, texts)
  for (let change = draw(4); change > 0; change -= 1) {
    const at = draw(text.length + 1)
    const end = at + draw(4)
    const kind = draw(5)
    if (kind === 0) text = text.slice(0, at) + oneOf(draw, pieces) + text.slice(at)
    else if (kind === 1) text = text.slice(0, at) + text.slice(end)
    else if (kind === 2) text = text.slice(0, at) + text.slice(at, end).repeat(2) + text.slice(end)
    else if (kind === 3) text = text.slice(0, at) + text.slice(at).toUpperCase()
    else text = text.slice(0, at) + oneOf(draw, texts).slice(draw(8))
  }
  return text
}

/** One or two changes: a bit turned, a byte put in, some taken out, or some of them twice. */
export function changedBytes(draw: Draw, bytes: Uint8Array): Uint8Array {
  let changed: Buffer = Buffer.from(bytes)
  for (let change = 1 + draw(2); change > 0; change -= 1) {
    const at = draw(changed.byteLength + 1)
    const end = at + draw(5)
    const [before, after] = [changed.subarray(0, at), changed.subarray(at)]
    const kind = draw(4)
    if (kind === 0) changed = turned(changed, at, draw(8))
    else if (kind === 1) changed = Buffer.concat([before, Buffer.from([draw(256)]), after])
    else if (kind === 2) changed = Buffer.concat([before, changed.subarray(end)])
    else changed = Buffer.concat([before, changed.subarray(at, end), after])
  }
  return changed
}

function turned(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  const byte = copy[at]
  if (byte !== undefined) copy[at] = byte ^ (1 << bit)
  return copy
}
