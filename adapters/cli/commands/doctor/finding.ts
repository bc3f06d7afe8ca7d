/** Something that was looked at. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'wrong'
  readonly about: 'certificates' | 'storage' | 'network'
  readonly text: string
}
