/** A VMI that cannot become a domain. `field` is the path in the VMI, the message says what is wrong with it and what would work. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`);
    this.field = field;
  }
}
