import { encode } from 'uqr'
import { svgElement } from './element.ts'

/** Draws a text as a QR code, in the page itself: no server and no other site learns of it. */
export function qrCode(text: string, label: string): SVGSVGElement {
  const { data, size } = encode(text, { border: 4 })
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
  return svgElement(
    'svg',
    { class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label },
    svgElement('rect', { width: size, height: size, fill: '#fff' }),
    svgElement('path', { d: path, fill: '#000' }),
  )
}
