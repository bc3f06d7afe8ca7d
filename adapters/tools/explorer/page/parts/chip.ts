/** An entry of a list: the sent value, and the shown text. */
export interface Chip {
  readonly value: string
  readonly name: string
}

/** A role attribute as a chip. */
export function attributeChip(attribute: string): Chip {
  return { value: attribute, name: `#${attribute}` }
}
