import { encode } from 'uqr'

/** Modules of white around a code, without which scanners do not find it. */
const QUIET_ZONE = 4

/** A text as a QR code, dark on white in every colour scheme. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { ecc: 'L', border: QUIET_ZONE })
  const path = data.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join('')).join('')
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect fill="#fff" width={size} height={size} />
      <path d={path} />
    </svg>
  )
}
