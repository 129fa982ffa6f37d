// Runs in a page, as `page-flaws.ts` says. Its value is what is wrong with the page as it is shown.
;(() => {
  const shown = [...document.querySelectorAll('body *')].filter(isShown)
  const colours = new Map()
  const grounds = new Map()
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const drawings = shown.filter((one) => one instanceof SVGSVGElement)

  function isShown(one) {
    return one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  }

  /** The beginning of an element's source, by which it is found. */
  function nameOf(one) {
    return one.outerHTML.slice(0, 200)
  }

  /** The words that an element itself has, without those of the elements inside it. */
  function wordsOf(one) {
    return [...one.childNodes].flatMap((node) => (node.nodeType === 3 ? [node.data] : [])).join('')
  }

  /** Red, green, blue and alpha, whatever notation the colour has. */
  function rgba(colour) {
    if (!colours.has(colour)) {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = colour
      canvas.fillRect(0, 0, 1, 1)
      colours.set(colour, [...canvas.getImageData(0, 0, 1, 1).data])
    }
    return colours.get(colour)
  }

  function blended([red, green, blue, alpha], below) {
    return [red, green, blue].map((value, at) => below[at] + ((value - below[at]) * alpha) / 255)
  }

  /** The colour behind what an element contains; null where that is a picture. */
  function groundOf(one) {
    if (one === null) return rgba(isDark() ? '#121212' : '#fff')
    if (!grounds.has(one)) {
      const { backgroundColor, backgroundImage } = getComputedStyle(one)
      const below = groundOf(one.parentElement)
      const isPicture = backgroundImage !== 'none' || below === null
      grounds.set(one, isPicture ? null : blended(rgba(backgroundColor), below))
    }
    return grounds.get(one)
  }

  function isDark() {
    const { colorScheme } = getComputedStyle(document.documentElement)
    return colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches
  }

  /** The relative luminance of WCAG 2. */
  function luminance(colour) {
    const [red, green, blue] = colour
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }

  /** The contrast of WCAG 2, from 1 to 21; null where the ground is a picture. */
  function contrast(colour, ground, opacity = 1) {
    if (ground === null) return null
    const [red, green, blue, alpha] = rgba(colour)
    const seen = blended([red, green, blue, alpha * opacity], ground)
    const [one, other] = [luminance(seen), luminance(ground)]
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
  }

  function opacityOf(one) {
    return one === null ? 1 : Number(getComputedStyle(one).opacity) * opacityOf(one.parentElement)
  }

  function scrolls(one) {
    return /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth
  }

  function isInsideScroller(one) {
    for (let up = one.parentElement; up !== null && up !== document.body; up = up.parentElement) {
      if (scrolls(up)) return true
    }
    return false
  }

  /** Whether it hides a part of what it contains, and nobody can scroll there. */
  function cuts(one) {
    const { overflowX, overflowY, clipPath } = getComputedStyle(one)
    // Words for screen readers alone are cut off altogether.
    if (clipPath !== 'none' || one instanceof SVGElement || one.textContent.trim() === '')
      return false
    const [isWide, isLong] = [
      one.scrollWidth > one.clientWidth + 1,
      one.scrollHeight > one.clientHeight + 1,
    ]
    return (/hidden|clip/.test(overflowX) && isWide) || (/hidden|clip/.test(overflowY) && isLong)
  }

  const braces = /\{\{|\}\}/
  const left = [
    ...(braces.test(document.title) ? [`a template is left: ${document.title}`] : []),
    ...shown
      .filter((one) => braces.test(wordsOf(one)) && one.closest('code, pre') === null)
      .map((one) => `a template is left: ${nameOf(one)}`),
  ]

  const wide = [
    ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []),
    ...shown
      .filter((one) => {
        const { left, right, width } = one.getBoundingClientRect()
        return width > 1 && (right > innerWidth + 1 || left < -1) && !isInsideScroller(one)
      })
      .map((one) => `beyond the edge: ${nameOf(one)}`),
    ...shown.filter(cuts).map((one) => `cut off: ${nameOf(one)}`),
    ...shown
      .filter((one) => one.matches('table') && (scrolls(one) || isInsideScroller(one)))
      .map((one) => `columns out of sight: ${nameOf(one)}`),
  ]

  /** What WCAG 2 asks of a text: large ones need less. */
  function neededContrast({ fontSize, fontWeight }) {
    const size = Number.parseFloat(fontSize)
    return size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700) ? 3 : 4.5
  }

  function isDisabled(one) {
    return one.closest(':disabled, [aria-disabled=true]') !== null
  }

  const typed = 'input:not([type=checkbox], [type=radio]), select, textarea'
  const faint = shown
    .filter((one) => wordsOf(one).trim() !== '' || one.matches(typed))
    .filter((one) => !(one instanceof SVGElement) && !isDisabled(one))
    .flatMap((one) => {
      const part = one.matches(':placeholder-shown') ? '::placeholder' : null
      const style = getComputedStyle(one, part)
      const found = contrast(style.color, groundOf(one), opacityOf(one)) ?? 21
      return found < neededContrast(style)
        ? [`a contrast of ${found.toFixed(2)}: ${nameOf(one)}`]
        : []
    })

  /** A shape as large as the drawing is the ground of the others. */
  function ownGround(drawing) {
    const { width, height } = drawing.getBoundingClientRect()
    return [...drawing.querySelectorAll('rect')].find((rect) => {
      const box = rect.getBoundingClientRect()
      return box.width >= width - 1 && box.height >= height - 1
    })
  }

  /** What is wrong with the shapes of a drawing. */
  function shapes(drawing) {
    const own = ownGround(drawing)
    const ground = own ? rgba(getComputedStyle(own).fill) : groundOf(drawing)
    return [...drawing.querySelectorAll('path, polyline, polygon, line, circle, rect, text')]
      .filter((shape) => shape !== own && isShown(shape))
      .flatMap((shape) =>
        [...lineFlaws(shape), ...paintFlaws(shape, ground, own !== undefined)].map(
          (flaw) => `${flaw}: ${nameOf(shape)}`,
        ),
      )
  }

  function lineFlaws(shape) {
    const { fill, stroke } = getComputedStyle(shape)
    if (shape.matches('polyline') && fill !== 'none') return ['a line is drawn as an area']
    return shape.matches('polyline, line') && stroke === 'none' ? ['a line is not drawn'] : []
  }

  function paintFlaws(shape, ground, isOnOwnGround) {
    const { fill, stroke } = getComputedStyle(shape)
    const paints = [shape.matches('line') ? 'none' : fill, stroke].filter((one) => one !== 'none')
    // The colour of what has none.
    if (paints.includes('rgb(0, 0, 0)') && !isOnOwnGround) return ['black']
    const isLost =
      paints.length > 0 && paints.every((paint) => (contrast(paint, ground) ?? 21) < 1.1)
    return isLost ? ['in the colour of its ground'] : []
  }

  function meet(one, other) {
    return (
      one.left < other.right &&
      other.left < one.right &&
      one.top < other.bottom &&
      other.top < one.bottom
    )
  }

  /** What is wrong with the words of a drawing. */
  function labels(drawing) {
    const edge = drawing.getBoundingClientRect()
    const scale = edge.width / drawing.viewBox.baseVal.width
    const texts = [...drawing.querySelectorAll('text')].map((text) => ({
      words: text.textContent,
      size: Number.parseFloat(getComputedStyle(text).fontSize) * scale,
      box: text.getBoundingClientRect(),
    }))
    return texts.flatMap(({ words, size, box }, at) => [
      ...(size < 12 ? [`too small in a drawing: ${words}`] : []),
      ...(box.left < edge.left ||
      box.right > edge.right ||
      box.top < edge.top ||
      box.bottom > edge.bottom
        ? [`cut off in a drawing: ${words}`]
        : []),
      ...texts
        .slice(at + 1)
        .filter((other) => meet(box, other.box))
        .map((other) => `${words} lies on ${other.words}`),
    ])
  }

  const targets = shown
    .filter((one) => one.matches('a, button, input, select, summary'))
    .map((one) => ({ one, box: one.getBoundingClientRect() }))

  /** Whether a finger that aims at its middle hits another target within 12 px (WCAG 2.5.8). */
  function isCrowded({ one, box }) {
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
    return targets.some((other) => {
      if (one.contains(other.one) || other.one.contains(one)) return false
      const aside = Math.max(other.box.left - x, x - other.box.right, 0)
      return Math.hypot(aside, Math.max(other.box.top - y, y - other.box.bottom, 0)) < 12
    })
  }

  const small = targets
    .filter(({ one }) => one.matches('button, input, select, summary, nav a'))
    .filter(({ box }) => box.width > 0 && Math.min(box.width, box.height) < 24)
    .filter(isCrowded)
    .map(({ one }) => `too small a target: ${nameOf(one)}`)

  return [
    ...left,
    ...wide,
    ...faint,
    ...drawings.flatMap(shapes),
    ...drawings.flatMap(labels),
    ...small,
  ]
})()
