/**
 * Kubernetes resource quantities ("512Mi", "1.5G", "100m", "2e3"), exact to a nano-unit as in Kubernetes.
 * Grammar: <number><suffix>; suffix binary (Ki … Ei), decimal (n, u, m, k, M … E) or exponent (e3, E3).
 */
const NANO = 1_000_000_000n;

const BINARY: Record<string, bigint> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
};
const DECIMAL_EXPONENT: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE]?))$/;

/** Thrown for a string that is no quantity. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

/** The quantity in nano-units, fractions below rounded up as Kubernetes does. @throws QuantityError */
function nanoUnits(text: string): bigint {
  const match = QUANTITY.exec(text);
  const [, sign = '', whole = '', fraction = '', exponent, suffix = ''] = match ?? [];
  if (match === null || whole + fraction === '') throw new QuantityError(`"${text}" is not a quantity like 512Mi`);
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  const factor = BINARY[suffix];
  const tens = (factor === undefined ? Number(exponent ?? DECIMAL_EXPONENT[suffix] ?? 0) : 0) - fraction.length + 9;
  const scaled = digits * (factor ?? 1n);
  return tens >= 0 ? scaled * 10n ** BigInt(tens) : ceilDivide(scaled, 10n ** BigInt(-tens));
}

const ceilDivide = (dividend: bigint, divisor: bigint): bigint => {
  const quotient = dividend / divisor;
  return dividend > quotient * divisor ? quotient + 1n : quotient;
};

/** Whole units (bytes, cores), rounded up. @throws QuantityError */
export const quantityValue = (text: string): number => Number(ceilDivide(nanoUnits(text), NANO));

/** Whole units, rounded down: what fits. @throws QuantityError */
export const quantityFloor = (text: string): number => Number(-ceilDivide(-nanoUnits(text), NANO));

/** Thousandths (millicores), rounded up. @throws QuantityError */
export const quantityMilliValue = (text: string): number => Number(ceilDivide(nanoUnits(text), NANO / 1000n));

/** Negative, zero or positive as a is smaller than, equal to or larger than b. @throws QuantityError */
export const compareQuantities = (a: string, b: string): number => {
  const [x, y] = [nanoUnits(a), nanoUnits(b)];
  return x < y ? -1 : x > y ? 1 : 0;
};

/** Sum of quantities, exact to a nano-unit; whole mebibytes are written as such. @throws QuantityError */
export const sumQuantities = (...quantities: string[]): string =>
  written(quantities.reduce((total, quantity) => total + nanoUnits(quantity), 0n));

/** Difference of two quantities. @throws QuantityError */
export const subtractQuantities = (from: string, what: string): string => written(nanoUnits(from) - nanoUnits(what));

/** A number of bytes as a quantity. */
export const bytesQuantity = (bytes: number): string => written(BigInt(Math.round(bytes)) * NANO);

/** The same in the largest binary unit of which it is a whole number, as Kubernetes writes what it computes. */
export const binaryQuantity = (bytes: number): string => {
  const count = BigInt(Math.round(bytes));
  const [suffix, unit] = Object.entries(BINARY).findLast(([, size]) => count !== 0n && count % size === 0n) ?? ['', 1n];
  return `${count / unit}${suffix}`;
};

const MEBI = 1n << 20n;

const written = (nano: bigint): string => {
  const whole = nano / NANO;
  if (nano % NANO === 0n) return whole !== 0n && whole % MEBI === 0n ? `${whole / MEBI}Mi` : `${whole}`;
  return nano % 1_000_000n === 0n ? `${nano / 1_000_000n}m` : `${nano}n`;
};

/** True if the text is a quantity. */
export const isQuantity = (text: string): boolean => {
  const [, , whole = '', fraction = ''] = QUANTITY.exec(text) ?? [];
  return whole + fraction !== '';
};
